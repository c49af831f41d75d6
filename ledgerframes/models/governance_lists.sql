-- One row per contract of the network's rules, with its list of super validators, numbered in their order.
select
  template_name, null::varchar as choice, shown_by, migration_id, record_time, update_id, node_index, members,
  row_number() over (order by migration_id nulls first, record_time nulls first, update_id, node_index) as state
from governance_rules
where wrong is null
