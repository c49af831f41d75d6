-- A verdict that occurs more than once, as in parts of the history that overlap; no row if there is none.
select update_id
from verdicts
group by update_id
having count(*) > 1
order by update_id
limit 1
