-- One row per day in UTC and provider of an application whose rewards were created or ended on it.
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
of_all as (select date, sum_of_all(rewards_claimed) as claimed from flowed group by date)
select
  date::timestamp at time zone 'UTC' as time, provider, coupons_created, coupons_claimed, coupons_expired, rewards_claimed,
  rewards_claimed_usd, rewards_expired,
  case when claimed > 0 then (divided(units(rewards_claimed) * 10000000000, units(claimed)) / 10000000000::decimal(38, 10))
    end::decimal(38, 10) as share
from flowed
join of_all using (date)
order by time, provider
