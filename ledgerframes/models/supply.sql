-- One row: the coin that exists at the end of the history, as received: holding fees are not deducted. A sum with a contract
-- that cannot be read is not known.
with
active as (
  select amount, locked from coin_history where ended_at is null
  union all
  select null, locked from unread_coin_contracts where ended_at is null
),
last as (select max(record_time) as time from events)
select
  coalesce(make_timestamptz(getvariable('at_micros')::bigint), max(last.time)) as at,
  (select sum_where(amount, not locked) from active) as unlocked,
  (select sum_where(amount, locked) from active) as locked,
  (select sum_of_all(amount) from active) as total
from last
