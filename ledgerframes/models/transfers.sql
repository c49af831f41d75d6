-- One row per output of a coin transfer.
select
  update_id, event_id, record_time, output_index, round, sender, provider, receiver, amount,
  coin(worth(amount, price)) as amount_usd, receiver_fee_ratio, lock,
  sender_fees::decimal(38, 10) as sender_fees,
  case
    when said_kind <> '' and said_kind <> 'transfer' then said_kind
    when burned then 'burn'
    when sender = receiver then 'self'
    else 'transfer'
  end as kind,
  reason, migration_id, node_index
from coin_outputs
order by record_time, update_id, length(event_id), event_id, output_index
