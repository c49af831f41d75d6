-- One row per day of the history and validator with a license at its end.
select day_numbers.day, validator, first_round, last_round, missed, version
from license_states
join day_numbers on day_numbers.day >= license_states.day and (until is null or day_numbers.day < until)
order by day_numbers.day, validator
