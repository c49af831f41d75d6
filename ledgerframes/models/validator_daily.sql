-- One row per day in UTC and validator that has a license at its end: the rounds that it reported for on the day, what it was
-- paid, and what it paid for traffic. A license is created again at every report, and counts the rounds that were missed
-- before it. A validator is paid what it claims, whoever's coupon it was.
with
last as (select max(record_time) as time from events),
reports as (
  select party as validator, utc_day(record_time) as date, round
  from reward_flows
  where event = 'created' and kind = 'validator_faucet' and party is not null
),
reported as (select date, validator, count(distinct round) as rounds_reported from reports group by all),
firsts as (select validator, min(round) as first_reported from reports group by validator),
states as (
  select
    license_states.*,
    -- A first report counts none; what a license counted before is known of one that was seen, or that began here.
    missed - case
      when first_round = lag(first_round) over by_validator then lag(missed) over by_validator
      when first_round >= first_reported then 0
    end as rounds_missed
  from license_states
  left join firsts using (validator)
  window by_validator as (partition by validator order by license_states.day)
),
-- The newest round that nobody can report for any more.
closing as (
  select target_closes_at as time, max(round) over (order by target_closes_at) as round
  from round_history
  where target_closes_at is not null
),
newest as (
  select date, date::timestamp at time zone 'UTC' as time, max(closing.round) as round
  from history_days
  asof left join closing on closing.time <= moment
  group by all
),
licensed as (
  select
    date, newest.time, validator, sponsor, version, last_round,
    case when day_of(newest.time) = states.day then rounds_missed else 0 end as rounds_missed,
    case when last_round is not null and newest.round is not null then greatest(newest.round - last_round, 0) end as silent_for
  from newest
  join states on day_of(newest.time) >= states.day and (until is null or day_of(newest.time) < until)
),
-- For the part of an application or a validator in one sum, neither share is known.
claimed as (
  select
    utc_day(record_time) as date, party as validator, coalesce(kind, 'app') as app, coalesce(kind, 'validator') as kind, amount,
    amount_usd, case when kind is not null then amount end as of_kind,
    case when kind is not null then amount_usd end as of_kind_usd
  from reward_flows
  where event = 'claimed'
),
earned as (
  select
    date, validator, sum_of_all(amount) as rewards_claimed, sum_of_all(amount_usd) as rewards_claimed_usd,
    sum_where(amount, kind = 'validator_faucet') as rewards_validator_faucet,
    sum_where(amount_usd, kind = 'validator_faucet') as rewards_validator_faucet_usd,
    sum_where(of_kind, kind = 'validator') as rewards_validator,
    sum_where(of_kind_usd, kind = 'validator') as rewards_validator_usd,
    sum_where(of_kind, app = 'app') as rewards_app, sum_where(of_kind_usd, app = 'app') as rewards_app_usd,
    sum_where(amount, app not in ('app', 'validator', 'validator_faucet')) as rewards_other,
    sum_where(amount_usd, app not in ('app', 'validator', 'validator_faucet')) as rewards_other_usd
  from claimed
  group by all
),
bought as (
  select
    utc_day(record_time) as date, provider as validator, sum(bytes)::bigint as traffic_bytes,
    sum_of_all(amount) as traffic_paid, sum_of_all(amount_usd) as traffic_paid_usd
  from traffic_purchases
  group by all
),
-- A day without any is 0; a sum with an unknown part is null.
sums as (
  select
    licensed.* replace (coalesce(rounds_missed, case when last_round is null then 0 end) as rounds_missed),
    coalesce(rounds_reported, 0) as rounds_reported, coalesce(traffic_bytes, 0) as traffic_bytes,
    case when earned.date is null then 0 else columns('^(rewards_.*)$') end::decimal(38, 10) as '\1',
    case when bought.date is null then 0 else columns('^(traffic_paid.*)$') end::decimal(38, 10) as '\1'
  from licensed
  left join reported using (date, validator)
  left join earned using (date, validator)
  left join bought using (date, validator)
)
select
  sums.time, validator, sponsor, version, last_round, rounds_reported, rounds_missed, silent_for,
  rewards_validator_faucet, rewards_validator_faucet_usd, rewards_validator, rewards_validator_usd, rewards_app, rewards_app_usd,
  rewards_other, rewards_other_usd, rewards_claimed, rewards_claimed_usd, traffic_bytes, traffic_paid, traffic_paid_usd,
  (rewards_claimed - traffic_paid)::decimal(38, 10) as net, (rewards_claimed_usd - traffic_paid_usd)::decimal(38, 10) as net_usd,
  held_whole(sums.time, last.time) as whole
from sums
cross join last
order by sums.time, validator
