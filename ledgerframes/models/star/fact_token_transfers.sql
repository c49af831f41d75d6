-- One row per leg of a transfer of the token standard.
select
  key_of(json_array(update_id, event_id, leg)::varchar) as token_transfer_key, key_of(update_id) as update_key,
  key_of(json_array(update_id, event_id)::varchar) as event_key, date_number(utc_day(record_time)) as date_key,
  utc_day(record_time) as date, key_of(sender) as sender_party_key, key_of(receiver) as receiver_party_key,
  record_time, leg, instrument_admin, instrument_id, amount, kind, step, reason
from token_transfers
order by record_time, update_id, event_id, leg
