-- One row per day of the history: what happened in the network. Each figure is summed by day before the days are joined.
with
counted as (
  select
    utc_day(record_time) as date, count(*) as updates, count(*) filter (kind = 'transaction') as transactions,
    count(*) filter (kind <> 'transaction') as reassignments
  from updates
  group by all
),
acting as (
  select date, count(distinct party) as active_parties
  from (select utc_day(record_time) as date, unnest(acting_parties) as party from events)
  group by date
),
paid as (
  select
    utc_day(record_time) as date, count(*) as payments, sum_of_all(amount) as paid, sum_of_all(amount_usd) as paid_usd
  from transfers
  where sender is distinct from receiver
  group by all
),
coin as (
  select
    utc_day(record_time) as date,
    sum_of_all(minted_app + minted_app_or_validator + minted_validator + minted_validator_faucet + minted_sv
      + minted_unclaimed_activity + minted_development_fund + minted_tap + minted_other) as minted,
    sum_of_all(burned_traffic + burned_names + burned_preapprovals + burned_fees + burned_expiry) as burned,
    sum_of_all(net_change) as net_change,
    sum_of_all(unexplained) as unexplained
  from mint_burn
  group by all
),
flowed as (
  select
    utc_day(record_time) as date,
    sum_where(amount, event = 'claimed') as rewards_claimed,
    sum_where(amount, event = 'expired') as rewards_expired
  from reward_flows
  group by all
),
bought as (
  select utc_day(record_time) as date, sum(bytes)::bigint as traffic_bytes, sum_of_all(amount) as traffic_paid
  from traffic_purchases
  group by all
)
select
  date_number(date) as date_key, date,
  coalesce(updates, 0) as updates, coalesce(transactions, 0) as transactions,
  coalesce(reassignments, 0) as reassignments, coalesce(active_parties, 0) as active_parties,
  coalesce(payments, 0) as payments,
  -- A day without any is 0; a sum of which a part is not known is null.
  case when paid.date is null then 0 else paid end::decimal(38, 10) as paid,
  case when paid.date is null then 0 else paid_usd end::decimal(38, 10) as paid_usd,
  case when coin.date is null then 0 else minted end::decimal(38, 10) as minted,
  case when coin.date is null then 0 else burned end::decimal(38, 10) as burned,
  case when coin.date is null then 0 else net_change end::decimal(38, 10) as net_change,
  case when coin.date is null then 0 else unexplained end::decimal(38, 10) as unexplained,
  case when flowed.date is null then 0 else rewards_claimed end::decimal(38, 10) as rewards_claimed,
  case when flowed.date is null then 0 else rewards_expired end::decimal(38, 10) as rewards_expired,
  coalesce(traffic_bytes, 0) as traffic_bytes,
  case when bought.date is null then 0 else traffic_paid end::decimal(38, 10) as traffic_paid
from (select date '1970-01-01' + day::integer as date from asked_days) as days
left join counted using (date)
left join acting using (date)
left join paid using (date)
left join coin using (date)
left join flowed using (date)
left join bought using (date)
order by date
