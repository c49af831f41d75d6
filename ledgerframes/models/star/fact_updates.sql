-- One row per update: a transaction, or one leg of a reassignment.
select
  key_of(update_id) as update_key, date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date,
  key_of(synchronizer_id) as synchronizer_key,
  update_id, migration_id, record_time, effective_at, kind, workflow_id, event_count
from updates
order by migration_id, record_time, update_id
