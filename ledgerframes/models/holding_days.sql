-- One row per party and day on which its coin changed: its holdings at the end of that day, until the next such day.
-- Days are counted from 1970 in UTC.
with
coins as (
  select
    owner, amount, locked, recorded_at,
    -- An update of a later migration may have an earlier time; a coin does not end before it begins.
    case when ended_at is not null then greatest(ended_at, recorded_at) end as ended_at
  from coin_history
  where recorded_at is not null
),
changes as (
  select
    owner, day_of(recorded_at) as day, case when locked then 0 else amount end as unlocked,
    case when locked then amount else 0 end as locked
  from coins
  union all
  select
    owner, day_of(ended_at), case when locked then 0 else -amount end, case when locked then -amount else 0 end
  from coins
  where ended_at is not null
),
sums as (
  select
    owner, day, sum(sum(unlocked)) over past as unlocked, sum(sum(locked)) over past as locked,
    lead(day) over past as next
  from changes
  group by owner, day
  window past as (partition by owner order by day)
)
select
  owner, day, next,
  unlocked::decimal(38, 10) as unlocked, locked::decimal(38, 10) as locked,
  (unlocked + locked)::decimal(38, 10) as total
from sums
order by owner, day
