-- One row per contract of the network's rules, with its list of super validators as it is.
select template_name, null::varchar as choice, migration_id, record_time, update_id, node_index, members
from governance_rules
where wrong is null
