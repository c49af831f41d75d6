-- One row per day and validator that has a license at the end of the day.
select
  date_number(date) as date_key, date,
  key_of(validator) as validator_key, first_round, last_round, missed, version
from license_states
join day_numbers as days on days.day >= license_states.day and (until is null or days.day < until)
order by days.day, validator
