-- One row per period from the first new validator to the last, also those without one, over which no line should be drawn.
with
counted as (
  select period(time) as time, count(*) as new
  from license_starts
  where time is not null
  group by all
),
bounds as (select min(time) at time zone 'UTC' as low, max(time) at time zone 'UTC' as high from counted),
every as (
  select
    unnest(generate_series(low, high, case getvariable('calendar')
      when 'week' then to_weeks(1) when 'month' then to_months(1) when 'quarter' then to_months(3)
      when 'year' then to_years(1) else to_microseconds(step()) end)) at time zone 'UTC' as time
  from bounds
)
select time, coalesce(new, 0) as new, (sum(coalesce(new, 0)) over (order by time))::bigint as validators
from every
left join counted using (time)
order by time
