-- One row per day of the history: what happened in the network.
select
  date_number(utc_day(time)) as date_key, utc_day(time) as date, updates, transactions, reassignments, active_parties,
  payments, paid, paid_usd, minted, burned, net_change, unexplained, rewards_claimed, rewards_expired, traffic_bytes,
  traffic_paid, whole
from network_daily
order by date
