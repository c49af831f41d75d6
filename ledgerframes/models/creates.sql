-- One row per contract that the history shows: by its create, in the opening, or by an assignment.
select
  'create' as shown_by, migration_id, record_time, update_id, event_id, node_index, parent_event_id,
  contract_id, template_name, created_at, payload
from events
where event_type = 'created_event'
union all by name
select 'opening' as shown_by, contract_id, template_name, created_at, payload
from opening
union all by name
select
  'assignment' as shown_by, migration_id, record_time, update_id,
  contract_id, template_name, created_at, payload
from reassignments
where kind = 'assignment'
