-- One row per time and party: the party's holdings, with the notional fees for the earliest round open then.
with
changes as (
  select
    owner, place,
    sum(case when locked then 0 else amount end) as unlocked,
    sum(case when locked then amount else 0 end) as locked,
    sum(case when locked then 0 else rate end) as rate,
    sum(case when locked then rate else 0 end) as locked_rate,
    sum(case when locked then 0 else reached - since end) as fixed,
    sum(case when locked then reached - since else 0 end) as locked_fixed
  from balance_changes
  group by owner, place
),
owners as (
  select owner, min(place) as first from changes group by owner
  union all
  select owner, 0 as first
  from (select unnest(getvariable('parties')::varchar[]) as owner)
  where owner not in (select owner from changes)
),
grid as (
  select owner as party_id, place, time, round
  from owners
  join balance_times on place >= case when getvariable('parties') is null then first else 0 end
),
sums as (
  select
    grid.*,
    sum(coalesce(columns(changes.* exclude (owner, place)), 0)) over (partition by party_id order by grid.place)
  from grid
  left join changes on changes.owner = party_id and changes.place = grid.place
)
select
  time, party_id,
  unlocked::decimal(38, 10) as total_unlocked_coin,
  locked::decimal(38, 10) as total_locked_coin,
  (unlocked + locked)::decimal(38, 10) as total_coin_holdings,
  (rate * round + fixed)::decimal(38, 10) as accumulated_holding_fees_unlocked,
  (locked_rate * round + locked_fixed)::decimal(38, 10) as accumulated_holding_fees_locked,
  ((rate + locked_rate) * round + fixed + locked_fixed)::decimal(38, 10) as accumulated_holding_fees_total,
  (unlocked - (rate * round + fixed))::decimal(38, 10) as total_available_coin
from sums
order by time, party_id
