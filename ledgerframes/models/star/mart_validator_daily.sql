-- One row per day and validator with a license at its end: its reports, earnings and purchases of the day.
select
  date_number(utc_day(time)) as date_key, utc_day(time) as date, key_of(validator) as validator_key,
  key_of(validator) as party_key, validator_daily.* exclude (time, validator, sponsor)
from validator_daily
order by date, validator
