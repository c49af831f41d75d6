-- The place of the last event; no row without events.
select migration_id, record_time
from events
order by migration_id desc, record_time desc
limit 1
