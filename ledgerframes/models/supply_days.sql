-- One row per requested day: the coin that exists at its end; not known while there is coin that cannot be read.
with
unread as (
  select asked_days.day, bool_or(not locked) as unlocked, bool_or(locked) as locked
  from asked_days
  join unread_coin_contracts as coins
    on day_of(recorded_at) <= asked_days.day and coalesce(day_of(ended_at) > asked_days.day, true)
  group by asked_days.day
),
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
),
known as (
  select
    asked_days.day,
    case when unread.unlocked is not true then coalesce(sums.unlocked, 0)::decimal(38, 10) end as unlocked,
    case when unread.locked is not true then coalesce(sums.locked, 0)::decimal(38, 10) end as locked
  from asked_days
  asof left join sums on asked_days.day >= sums.day
  left join unread on unread.day = asked_days.day
)
select day, unlocked, locked, (unlocked + locked)::decimal(38, 10) as total
from known
order by day
