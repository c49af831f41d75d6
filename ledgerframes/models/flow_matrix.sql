-- One row per source and target, and period if requested: the number of reassignments.
with
flows as (
  select
    *,
    case
      when getvariable('by_period')
      then period(case when getvariable('by_assigned') then assigned_at else coalesce(unassigned_at, assigned_at) end)
    end as period
  from reassignment_flows
)
select
  period,
  source_synchronizer,
  target_synchronizer,
  count(*) as count,
  count(distinct contract_id) as contracts,
  count(*) filter (status = 'in flight') as in_flight
from flows
where period is not null or getvariable('by_period') is null
group by period, source_synchronizer, target_synchronizer
order by period, source_synchronizer, target_synchronizer
