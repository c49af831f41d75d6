-- One row: the coin that exists at the end of the history, as received: holding fees are not deducted.
with
active as (select amount, locked from coin_history where ended_at is null),
last as (select max(record_time) as time from events)
select
  coalesce(make_timestamptz(getvariable('at_micros')::bigint), max(last.time)) as at,
  coalesce(sum(amount) filter (not locked), 0)::decimal(38, 10) as unlocked,
  coalesce(sum(amount) filter (locked), 0)::decimal(38, 10) as locked,
  coalesce(sum(amount), 0)::decimal(38, 10) as total
from last
left join active on true
