-- One row per contract that was reassigned: its path over the synchronizers, in the order of the counter.
with
steps as (
  select
    *,
    coalesce(unassigned_at, assigned_at) as began_at,
    row_number() over journey as step,
    lag(target_synchronizer) over journey as reached,
    lag(reassignment_counter) over journey as counted
  from reassignment_flows
  window journey as (
    partition by contract_id
    order by reassignment_counter, coalesce(unassigned_at, assigned_at), unassign_id, source_synchronizer)
),
parts as (
  select
    *,
    case
      when step = 1 then [source_synchronizer, target_synchronizer]
      -- A step is missing, by its counter or by where it would have led.
      when source_synchronizer <> reached or reassignment_counter > counted::hugeint + 1
      then [null, source_synchronizer, target_synchronizer]
      else [target_synchronizer]
    end as part
  from steps
)
select
  contract_id,
  arg_min(template_name, step) as template_name,
  count(*) as reassignments,
  flatten(list(part order by step)) as path,
  arg_min(began_at, step) as began_at,
  arg_max_null(assigned_at, step) as ended_at,
  try_cast(
    max(reassignment_counter)::hugeint - min(reassignment_counter) + 1 - count(distinct reassignment_counter) as bigint)
    as gaps
from parts
group by contract_id
order by contract_id
