-- One row per contract that an exercise ended: the first that did. A step asks for its own templates, so that only theirs
-- are sorted.
select
  contract_id, template_name, choice, migration_id, record_time, update_id, node_index, event_id, parent_event_id
from exercises
where consuming
qualify row_number() over (
  partition by template_name, contract_id order by migration_id, record_time, update_id, node_index) = 1
