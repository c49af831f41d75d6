-- One row per requested day: the coin that exists at its end.
with
changes as (
  select
    day,
    unlocked - coalesce(lag(unlocked) over past, 0) as unlocked,
    locked - coalesce(lag(locked) over past, 0) as locked
  from holding_days
  window past as (partition by owner order by day)
),
sums as (
  select day, sum(sum(unlocked)) over past as unlocked, sum(sum(locked)) over past as locked
  from changes
  group by day
  window past as (order by day)
)
select
  asked_days.day,
  coalesce(unlocked, 0)::decimal(38, 10) as unlocked,
  coalesce(locked, 0)::decimal(38, 10) as locked,
  (coalesce(unlocked, 0) + coalesce(locked, 0))::decimal(38, 10) as total
from asked_days
asof left join sums on asked_days.day >= sums.day
order by asked_days.day
