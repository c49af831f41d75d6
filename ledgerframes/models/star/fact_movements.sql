-- One row per entry in a party's account of coin. A star has no balance after it: a lake may begin late.
select
  key_of(json_array(update_id, entry)::varchar) as movement_key, key_of(update_id) as update_key,
  date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date, key_of(round::varchar) as round_key,
  key_of(party) as party_key, key_of(counterparty) as counterparty_party_key,
  record_time, entry, kind, amount, amount_usd, locked_change, reason
from movements
order by record_time, update_id, entry
