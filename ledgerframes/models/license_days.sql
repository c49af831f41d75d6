-- One row per requested day and validator with a license at its end.
select asked_days.day, validator, first_round, last_round, missed, version
from license_states
join asked_days on asked_days.day >= license_states.day and (until is null or asked_days.day < until)
order by asked_days.day, validator
