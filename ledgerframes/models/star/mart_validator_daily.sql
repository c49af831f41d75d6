-- One row per day and validator that has a license at its end: what it reported, earned and bought on the day.
with
earned as (
  select
    utc_day(record_time) as date, party as validator,
    sum_where(amount, event = 'claimed') as rewards_claimed,
    sum_where(amount, event = 'expired') as rewards_expired
  from reward_flows
  where kind in ('validator', 'validator_faucet')
  group by all
),
bought as (
  select
    utc_day(record_time) as date, provider as validator, sum(bytes)::bigint as traffic_bytes,
    sum_of_all(amount) as traffic_paid
  from traffic_purchases
  group by all
)
select
  date_number(date) as date_key, date, key_of(validator) as validator_key, key_of(validator) as party_key,
  last_round, missed, version,
  case when earned.date is null then 0 else rewards_claimed end::decimal(38, 10) as rewards_claimed,
  case when earned.date is null then 0 else rewards_expired end::decimal(38, 10) as rewards_expired,
  coalesce(traffic_bytes, 0) as traffic_bytes,
  case when bought.date is null then 0 else traffic_paid end::decimal(38, 10) as traffic_paid
from (
  select date '1970-01-01' + day::integer as date, validator, last_round, missed, version from license_days
) as licensed
left join earned using (date, validator)
left join bought using (date, validator)
order by date, validator
