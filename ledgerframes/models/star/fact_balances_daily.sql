-- One row per day and party with coin at the end of the day, or whose holdings changed on it.
select
  date_number(date '1970-01-01' + day::integer) as date_key, date '1970-01-01' + day::integer as date,
  key_of(owner) as party_key, unlocked, locked, total
from balance_days
order by day, owner
