-- One row per day and party with coin at the end of the day, or whose holdings changed on it.
select
  date_number(date) as date_key, date,
  key_of(owner) as party_key, unlocked, locked, total
from holding_days
-- Spent coin has no further rows.
join day_numbers as days
  on days.day >= holding_days.day
  and days.day < coalesce(case when total = 0 and unlocked = 0 then holding_days.day + 1 else next end, 1000000000)
order by days.day, owner
