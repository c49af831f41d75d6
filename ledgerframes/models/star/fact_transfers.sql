-- One row per output of a coin transfer.
select
  key_of(json_array(update_id, event_id, output_index)::varchar) as transfer_key, key_of(update_id) as update_key,
  key_of(json_array(update_id, event_id)::varchar) as event_key, date_number(utc_day(record_time)) as date_key,
  utc_day(record_time) as date, key_of(round::varchar) as round_key,
  key_of(sender) as sender_party_key, key_of(receiver) as receiver_party_key, key_of(provider) as provider_party_key,
  record_time, output_index, amount, amount_usd, receiver_fee_ratio, sender_fees, kind, reason, lock is not null as is_locked
from transfers
order by record_time, update_id, event_id, output_index
