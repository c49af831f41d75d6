-- One row per day and validator with a license at its end: its reports, earnings and purchases of the day.
select
  date_number(utc_day(time)) as date_key, utc_day(time) as date, key_of(validator) as validator_key,
  key_of(validator) as party_key, version, last_round, rounds_reported, rounds_missed, silent_for, rewards_validator_faucet,
  rewards_validator_faucet_usd, rewards_validator, rewards_validator_usd, rewards_app, rewards_app_usd, rewards_other,
  rewards_other_usd, rewards_claimed, rewards_claimed_usd, traffic_bytes, traffic_paid, traffic_paid_usd, net, net_usd,
  whole
from validator_daily
where day_of(time) in (select day from asked_days)
order by date, validator
