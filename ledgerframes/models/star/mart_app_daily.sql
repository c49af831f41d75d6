-- One row per day and provider of an application with rewards on it, or through which coin was paid.
select
  date_number(utc_day(time)) as date_key, utc_day(time) as date, key_of(provider) as party_key,
  app_daily.* exclude (time, provider)
from app_daily
order by date, provider
