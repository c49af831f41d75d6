-- One row per day in UTC and provider of an application whose rewards were created or ended on it, or through which coin was
-- paid on it. It burns the fees of these payments, and its own payments for traffic and preapprovals. Who
-- only buys is none.
with
through as (
  select
    utc_day(record_time) as date, provider, count(distinct receiver) filter (receiver is distinct from sender) as users
  from coin_outputs
  where provider is not null and not burned
  group by all
),
flows as (
  select
    utc_day(record_time) as date, kind, event, party,
    -- What is possibly of another kind is not known.
    case when kind = 'app' then coupons end as coupons, case when kind = 'app' then amount end as amount,
    case when kind = 'app' then amount_usd end as amount_usd
  from reward_flows
  where coalesce(kind, 'app') = 'app'
),
days as (
  select date, party as provider from flows where kind = 'app' and party is not null
  union
  select date, provider from through
),
parts as (
  select date, party as provider, event, coupons, amount, amount_usd
  from flows
  where party is not null
  union all by name
  -- Each provider may have had a part of what no party is known of.
  select distinct date, provider, event
  from days
  join flows using (date)
  where party is null
),
flowed as (
  select
    date, provider, sum_where(coupons, event = 'created')::bigint as coupons_created,
    sum_where(coupons, event = 'claimed')::bigint as coupons_claimed,
    sum_where(coupons, event = 'expired')::bigint as coupons_expired,
    sum_where(amount, event = 'claimed') as rewards_claimed,
    sum_where(amount_usd, event = 'claimed') as rewards_claimed_usd,
    sum_where(amount, event = 'expired') as rewards_expired
  from days
  left join parts using (date, provider)
  group by all
),
-- Coupons of the second version state coin, and no weight.
weighed as (
  select utc_day(created_recorded_at) as date, beneficiary as provider, sum_of_all(weight) as activity_weight
  from coupon_lives
  where kind = 'app' and created_in is not null and not in_coin
  group by all
),
-- What a traffic purchase pays out is the amount paid, with its fee.
inside as (select event_id from above where above_id in (select event_id from traffic_requests)),
burns as (
  select
    record_time, provider, (sender_fees + coalesce(receiver_fees, 0))::decimal(38, 10) as amount, price::decimal(38, 10) as price
  from coin_outputs
  where provider is not null and event_id not in (from inside)
  union all
  select
    record_time, sender as provider,
    -- A preapproval's other fees are those of the transfer below it.
    (paid + case when cause = 'traffic' then other_fees else 0::decimal(38, 10) end)::decimal(38, 10) as amount, price
  from payments
  where cause in ('traffic', 'preapprovals')
),
burned as (
  select
    utc_day(record_time) as date, provider, sum_of_all(amount) as burned,
    -- If nothing is burned, no price is needed.
    sum_of_all(case when amount = 0 then 0 else coin(worth(amount, price)) end) as burned_usd
  from burns
  group by all
),
of_all as (select date, sum_where(amount, event = 'claimed') as claimed from flows group by date),
last as (select max(record_time) as time from events)
select
  date::timestamp at time zone 'UTC' as time, provider,
  case when weighed.date is null then 0 else activity_weight end::decimal(38, 10) as activity_weight,
  coupons_created, coupons_claimed, coupons_expired, rewards_claimed, rewards_claimed_usd, rewards_expired,
  case when claimed > 0
    then (divided(units(rewards_claimed) * 10000000000, units(claimed)) / 10000000000::decimal(38, 10))
  end::decimal(38, 10) as share,
  coalesce(users, 0) as users,
  case when burned.date is null then 0 else columns('^(burned|burned_usd)$') end::decimal(38, 10) as '\1',
  held_whole(date::timestamp at time zone 'UTC', last.time) as whole
from flowed
left join through using (date, provider)
left join weighed using (date, provider)
left join burned using (date, provider)
left join of_all using (date)
cross join last
order by time, provider
