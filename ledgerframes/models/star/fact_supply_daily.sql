-- One row per day: the coin that exists at its end; not known while there is coin that cannot be read.
with
unread as (
  select day_numbers.day, bool_or(not locked) as unlocked, bool_or(locked) as locked
  from day_numbers
  join unread_coin_contracts as coins
    on day_of(recorded_at) <= day_numbers.day and coalesce(day_of(ended_at) > day_numbers.day, true)
  group by day_numbers.day
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
    date, day_numbers.day,
    case when unread.unlocked is not true then coalesce(sums.unlocked, 0)::decimal(38, 10) end as unlocked,
    case when unread.locked is not true then coalesce(sums.locked, 0)::decimal(38, 10) end as locked
  from day_numbers
  asof left join sums on day_numbers.day >= sums.day
  left join unread on unread.day = day_numbers.day
)
select
  date_number(date) as date_key, date, unlocked, locked, (unlocked + locked)::decimal(38, 10) as total
from known
order by day
