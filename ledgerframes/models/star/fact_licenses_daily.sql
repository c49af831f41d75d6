-- One row per day and validator that has a license at the end of the day.
select
  date_number(date '1970-01-01' + day::integer) as date_key, date '1970-01-01' + day::integer as date,
  key_of(validator) as validator_key, first_round, last_round, missed, version
from license_days
order by day, validator
