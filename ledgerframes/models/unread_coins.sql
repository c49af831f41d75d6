-- One row per coin contract at the end of the history that cannot be read, with the first member at fault.
select contract_id, template_name, wrong[1] as member
from held_coin_terms
where wrong is not null
order by contract_id
