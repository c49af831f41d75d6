-- One row per day and provider of an application whose rewards were created or ended on it.
select
  date_number(utc_day(time)) as date_key, utc_day(time) as date, key_of(provider) as party_key, coupons_created,
  coupons_claimed, coupons_expired, rewards_claimed, rewards_claimed_usd, rewards_expired
from app_daily
order by date, provider
