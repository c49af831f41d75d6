-- One row per event of a transaction tree.
select
  key_of(json_array(update_id, event_id)::varchar) as event_key, key_of(update_id) as update_key,
  date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date,
  key_of(synchronizer_id) as synchronizer_key, template_key(package_name, template_name) as template_key,
  event_id, record_time, event_type, choice, consuming, contract_id, node_index, depth
from events
order by migration_id, record_time, update_id, node_index, event_id
