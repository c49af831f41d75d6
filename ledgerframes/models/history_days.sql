-- One row per day in UTC from the first item of the history to the last; only those with an item where days are too far
-- apart, or the history may have a gap.
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
select date
from there
union
select unnest(generate_series(first, last, to_days(1)))::date as date
from span
where last - first < 100000 and coalesce(getvariable('range_known')::boolean, true)
order by date
