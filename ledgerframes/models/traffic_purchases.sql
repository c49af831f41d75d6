-- One row per purchase of traffic: who paid, for which member, how many bytes, how much in coin and in USD.
select
  record_time, update_id, event_id, provider, member_id, synchronizer_id, traffic_migration_id as migration_id, bytes,
  traffic_requests.round,
  paid as amount,
  coin(worth(paid, price)) as amount_usd
from traffic_requests
left join payment_summaries using (event_id)
where traffic_requests.wrong is null
order by traffic_requests.migration_id, record_time, update_id, node_index
