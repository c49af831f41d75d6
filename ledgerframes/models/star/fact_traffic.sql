-- One row per purchase of traffic.
select
  key_of(json_array(update_id, event_id)::varchar) as event_key, key_of(update_id) as update_key,
  date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date, key_of(round::varchar) as round_key,
  key_of(provider) as provider_party_key, key_of(synchronizer_id) as synchronizer_key,
  record_time, member_id, migration_id, bytes, amount, amount_usd
from traffic_purchases
order by record_time, update_id, event_id
