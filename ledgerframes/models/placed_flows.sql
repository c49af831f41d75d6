-- The amounts that each update minted and burned, by the round that it counts for: its own, else the last opened by then.
with
opened as (
  select coalesce(opened_at, opens_at) as time, round
  from round_history
  where coalesce(opened_at, opens_at) is not null
),
used as (select record_time as time, round from mint_burn where round is not null),
openings as (select * from opened union all select * from used where not exists (from opened)),
points as (select time, max(round) as round from openings group by time),
-- Updates before all known rounds belong to the first of them.
first as (select arg_min(round, row(time, round)) as round from openings)
select
  coalesce(mint_burn.round, points.round, first.round) as round,
  list_sum([*columns('^minted_')]) as minted,
  burned_traffic + burned_names + burned_preapprovals + burned_fees + burned_expiry as burned,
  net_change, unexplained
from mint_burn
asof left join points on mint_burn.record_time >= points.time
cross join first
