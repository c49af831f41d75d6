-- One row per purchase of traffic: payer, member, bytes, and the price in coin and in USD.
select
  record_time, update_id, event_id, provider, member_id, synchronizer_id, traffic_migration_id as migration_id, bytes,
  round,
  paid as amount,
  coin(worth(paid, price)) as amount_usd
from traffic_requests
-- A purchase without buyer or amount is only counted.
where provider is not null and member_id is not null and synchronizer_id is not null
  and traffic_migration_id is not null and bytes is not null
order by record_time, update_id, length(event_id), event_id
