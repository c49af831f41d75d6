-- The place of the first event; no row if there is none.
select migration_id, epoch_us(record_time) as micros
from events
order by migration_id, record_time
limit 1
