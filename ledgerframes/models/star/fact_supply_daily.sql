-- One row per day: the coin that exists at its end.
select
  date_number(date '1970-01-01' + day::integer) as date_key, date '1970-01-01' + day::integer as date,
  unlocked, locked, total
from supply_days
order by day
