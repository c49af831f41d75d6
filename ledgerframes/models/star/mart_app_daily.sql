-- One row per day and provider of an application whose rewards were created or ended on it.
select
  date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date, key_of(party) as party_key,
  coalesce(sum(coupons) filter (event = 'created'), 0)::bigint as coupons_created,
  coalesce(sum(coupons) filter (event = 'claimed'), 0)::bigint as coupons_claimed,
  coalesce(sum(coupons) filter (event = 'expired'), 0)::bigint as coupons_expired,
  sum_where(amount, event = 'claimed') as rewards_claimed,
  sum_where(amount_usd, event = 'claimed') as rewards_claimed_usd,
  sum_where(amount, event = 'expired') as rewards_expired
from reward_flows
where kind = 'app' and party is not null
group by utc_day(record_time), party
order by date, party
