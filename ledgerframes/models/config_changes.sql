-- One row per member of the coin's or the network's configuration that a contract of the rules has otherwise than the
-- one before. A list's items are identified by their place.
with
members as (
  select rules, state, leaf.fullkey[3:] as member, leaf.value ->> '$' as value
  from config_states, json_tree(config::json) as leaf
  where leaf.type not in ('ARRAY', 'OBJECT', 'NULL')
),
pairs as (
  select
    coalesce(new.rules, old.rules) as rules, coalesce(new.state, old.state + 1) as state,
    coalesce(new.member, old.member) as member, old.value as before, new.value as after
  from members as old
  full join members as new on new.rules = old.rules and new.state = old.state + 1 and new.member = old.member
  where old.value is distinct from new.value
),
placed as (
  select config_states.*, member, before, after
  from pairs
  join config_states using (rules, state)
  where state > 1
)
select record_time, placed.update_id, contract_id, rules, member, before, after, request
from placed
asof left join vote_closes on vote_closes.update_id = placed.update_id and vote_closes.node_index < placed.node_index
order by migration_id, record_time, update_id, placed.node_index, contract_id, member
