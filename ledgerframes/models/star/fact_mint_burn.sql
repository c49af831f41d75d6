-- One row per update that creates, ends, mints or burns coin; null means unknown, never 0.
select
  key_of(update_id) as update_key, date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date,
  key_of(round::varchar) as round_key, mint_burn.* exclude (update_id, round)
from mint_burn
order by record_time, update_id
