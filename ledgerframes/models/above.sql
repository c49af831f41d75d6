-- One row per exercise that a model asks about and choice of `choices` above it; of several the one with the
-- greatest `above_index` is the nearest.
-- It relies on `node_index`, which counts in preorder, and on `depth`: at each level, the event above is the last
-- exercise before it with that depth. No recursion, so it spills, and cannot go round in a circle.
with
-- Read twice, as a copy of all exercises would be large; what is asked is little of it.
nodes as not materialized (
  select update_id, event_id, node_index, depth, choice, template_name
  from exercises
  where depth is not null
),
asked as materialized (
  select update_id, event_id, node_index, unnest(range(depth)) as level
  from nodes
  where depth > 0
    -- Coupons that expire by themselves need no event above them to be recognised, and there are many.
    and (choice in (select choice from choices where does <> 'expires coupon')
      or (choice = 'Archive' and template_name in (select template_name from coupon_kinds)))
),
beside as (
  select update_id, event_id as above_id, node_index, depth as level, choice
  from nodes
  where update_id in (select update_id from asked)
),
pairs as (
  select asked.event_id, above_id, beside.node_index as above_index, choice
  from asked
  asof join beside
    on asked.update_id = beside.update_id and asked.level = beside.level and asked.node_index > beside.node_index
)
select event_id, above_id, above_index, does
from pairs
join choices using (choice)
