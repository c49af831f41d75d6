-- One row per day in UTC and provider of an application whose rewards were created or ended on it, or through which coin was
-- paid on it. It burns the fees of these payments, and its own payments for traffic and preapprovals.
with
flowed as (
  select
    utc_day(record_time) as date, party as provider,
    coalesce(sum(coupons) filter (event = 'created'), 0)::bigint as coupons_created,
    coalesce(sum(coupons) filter (event = 'claimed'), 0)::bigint as coupons_claimed,
    coalesce(sum(coupons) filter (event = 'expired'), 0)::bigint as coupons_expired,
    sum_where(amount, event = 'claimed') as rewards_claimed,
    sum_where(amount_usd, event = 'claimed') as rewards_claimed_usd,
    sum_where(amount, event = 'expired') as rewards_expired
  from reward_flows
  where kind = 'app' and party is not null
  group by all
),
-- Coupons of the second version state coin, and no weight.
weighed as (
  select utc_day(created_recorded_at) as date, beneficiary as provider, sum_of_all(weight) as activity_weight
  from coupon_lives
  where kind = 'app' and created_in is not null and not in_coin
  group by all
),
through as (
  select
    utc_day(record_time) as date, provider, count(distinct receiver) filter (receiver is distinct from sender) as users
  from coin_outputs
  where provider is not null
  group by all
),
-- The fees of a traffic purchase are included in the amount paid.
inside as (select event_id from above where above_id in (select event_id from traffic_requests)),
burns as (
  select
    record_time, provider, (sender_fees + coalesce(receiver_fees, 0))::decimal(38, 10) as amount, price::decimal(38, 10) as price
  from coin_outputs
  where provider is not null and event_id not in (from inside)
  union all
  select record_time, provider, paid as amount, price
  from traffic_requests
  where provider is not null
  union all
  select record_time, sender as provider, paid as amount, price
  from payments
  where cause = 'preapprovals'
),
burned as (
  select
    utc_day(record_time) as date, provider, sum_of_all(amount) as burned,
    -- If nothing is burned, no price is needed.
    sum_of_all(case when amount = 0 then 0 else coin(worth(amount, price)) end) as burned_usd
  from burns
  group by all
),
of_all as (select date, sum_of_all(rewards_claimed) as claimed from flowed group by date),
last as (select max(record_time) as time from events)
select
  date::timestamp at time zone 'UTC' as time, provider,
  case when weighed.date is null then 0 else activity_weight end::decimal(38, 10) as activity_weight,
  coalesce(coupons_created, 0) as coupons_created, coalesce(coupons_claimed, 0) as coupons_claimed,
  coalesce(coupons_expired, 0) as coupons_expired,
  case when flowed.date is null then 0 else columns('^(rewards_.*)$') end::decimal(38, 10) as '\1',
  case when claimed > 0
    then (divided(units(case when flowed.date is null then 0::decimal(38, 10) else rewards_claimed end) * 10000000000,
      units(claimed)) / 10000000000::decimal(38, 10)) end::decimal(38, 10) as share,
  coalesce(users, 0) as users,
  case when burned.date is null then 0 else columns('^(burned|burned_usd)$') end::decimal(38, 10) as '\1',
  held_whole(date::timestamp at time zone 'UTC', last.time) as whole
from flowed
full join through using (date, provider)
left join weighed using (date, provider)
left join burned using (date, provider)
left join of_all using (date)
cross join last
order by time, provider
