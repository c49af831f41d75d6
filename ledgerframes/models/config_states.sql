-- One row per contract of the coin's or the network's rules, with its configuration, numbered in their order, and those that
-- its schedule has for later.
select
  template_name, null::varchar as choice, split_part(template_name, ':', 2) as rules, shown_by, migration_id, record_time,
  update_id, node_index, contract_id, config, schedule,
  row_number() over (
    partition by template_name
    order by migration_id nulls first, record_time nulls first, update_id, node_index, contract_id) as state
from rules_contracts
where wrong is null
