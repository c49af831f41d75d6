-- One row per party and day of the history: its holdings at the end of the day. Spent coin has no further rows.
select days.day, owner, first_recorded_at, unlocked, locked, total
from holding_days
join day_numbers as days
  on days.day >= holding_days.day
  and days.day < coalesce(case when total = 0 and unlocked = 0 then holding_days.day + 1 else next end, 1000000000)
