-- One row per vote that was closed; its decision is carried out below it.
select update_id, node_index, coalesce(tracking, closed_contract) as request
from vote_results
where wrong is null
