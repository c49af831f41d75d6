-- An update of which an event occurs more than once, as in parts of the history that overlap; no row if there is none.
-- Hashes are quick to compare, and almost every history has each of them once.
with
repeated as (
  select hash(update_id, node_index) as found from events where node_index is not null group by all having count(*) > 1
)
select update_id
from events
where hash(update_id, node_index) in (from repeated)
group by update_id, node_index
having count(*) > 1
order by update_id
limit 1
