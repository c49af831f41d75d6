-- One row per day in UTC from the first item of the history to the last, whether it has an item, and its last moment, at most
-- that of the last event; of days too far apart, only those with an item.
with
there as (
  select distinct utc_day(record_time) as date
  from (
    select record_time from updates
    union all
    select record_time from events
    union all
    select record_time from reassignments
  ) as items
),
span as (select min(date) as first, max(date) as last from there),
days as (
  select date, true as has_items
  from there
  union all
  select date, false as has_items
  from (
    select unnest(generate_series(first, last, to_days(1)))::date as date
    from span
    where last - first < 100000
  ) as every_day
  anti join there using (date)
)
select date, has_items, least((date + 1)::timestamp at time zone 'UTC', last.time) as moment
from days
cross join (select max(record_time) as time from events) as last
order by date
