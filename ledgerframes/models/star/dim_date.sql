-- One row per day in UTC of the calendar years from the first fact to the last; of years too far apart, only those with facts.
with
years as (
  select distinct year(utc_day(record_time)) as year from updates
  union select distinct year(utc_day(record_time)) from verdicts
  union select distinct year(utc_day(created_at)) from rewards where created_at is not null
  union select distinct year(utc_day(ended_at)) from rewards where ended_at is not null
  union select distinct year(utc_day(opened_at)) from votes where opened_at is not null
  union select distinct year(utc_day(completed_at)) from votes where completed_at is not null
),
span as (select min(year) as first, max(year) as last from years),
listed as (
  select year from years
  union select unnest(range(first, last)) from span where last - first < 274
),
days as (
  select unnest(generate_series(make_date(year, 1, 1), make_date(year, 12, 31), interval 1 day))::date as date from listed
)
select
  date_number(date) as date_key, date, year(date) as year, quarter(date) as quarter, month(date) as month,
  monthname(date) as month_name, day(date) as day, isoyear(date) as iso_year, weekofyear(date) as iso_week,
  isodow(date) as weekday, dayname(date) as weekday_name, isodow(date) > 5 as is_weekend
from days
order by date
