-- One row per exercise.
select
  migration_id, record_time, update_id, event_id, node_index, depth, parent_event_id,
  contract_id, template_name, interface_id, choice, consuming, payload, exercise_result
from events
where choice is not null
