-- One row per validator: its license in the newest snapshot, and how long before a moment it was active: by default before
-- the latest activity of all, and not by any clock, since in a snapshot loaded long ago all would seem silent.
with
newest as (
  select *
  from licenses
  qualify row_number() over (
    partition by validator
    order by loaded_at desc nulls last, last_active_at desc nulls last, version, sponsor, coupons_missed) = 1
)
select
  validator, sponsor, version, last_active_at, coupons_missed,
  coalesce(getvariable('now_us')::bigint, max(epoch_us(last_active_at)) over ()) - epoch_us(last_active_at) as silent_for
from newest
