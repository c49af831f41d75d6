-- One row: the coin that exists at the end of the history, as received: holding fees are not deducted. A sum with a contract
-- that cannot be read is not known.
with
active as (
  select amount, locked from coin_history where ended_at is null
  union all
  select null, locked from unread_coin_contracts where ended_at is null
),
sums as (
  select
    sum_where(amount, not locked) as unlocked, sum_where(amount, locked) as locked, sum_of_all(amount) as total
  from active
),
last as (select max(record_time) as time from events)
select coalesce(make_timestamptz(getvariable('at_micros')::bigint), last.time) as at, unlocked, locked, total
from last
cross join sums
