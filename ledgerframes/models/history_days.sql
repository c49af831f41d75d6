-- One row per day in UTC from the first item of the history to the last, and whether it has an item; of days too far apart,
-- only those with one.
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
span as (select min(date) as first, max(date) as last from there)
select date, true as has_items
from there
union all
select date, false as has_items
from (
  select unnest(generate_series(first, last, to_days(1)))::date as date
  from span
  where last - first < 100000
) as days
anti join there using (date)
order by date
