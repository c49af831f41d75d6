-- How the sums of each owner change at which times: amounts, and of coins whose fee still grows the rates and the rates
-- times rounds of creation; `reached` is the amount of coins whose fee has reached them.
with
every as (
  select
    owner, amount, rate_per_round as rate, created_round, locked, expires_at_round,
    -- Coins from before the events are there from the first time on.
    case when recorded_at is null then 0 else started.place end as begins,
    ended.place as ends
  from coin_history
  asof left join balance_times as started on coin_history.recorded_at <= started.time
  asof left join balance_times as ended on coin_history.ended_at <= ended.time
  where getvariable('parties') is null or list_contains(getvariable('parties')::varchar[], owner)
),
-- One that begins and ends between two times is held at none.
coins as (select * from every where begins < ends or (begins is not null and ends is null)),
-- Rounds that are open never fall back, so a fee that has reached its coin stays.
reached as (select min(place) as place, round from balance_times where round is not null group by round),
switching as (
  select coins.*, case when reached.place is not null then greatest(reached.place, begins) end as reached_at
  from coins
  asof left join reached on coins.expires_at_round <= reached.round
)
select
  owner, begins as place, locked, amount, rate, rate * created_round as since, 0::decimal(38, 10) as reached
from switching
union all
select owner, reached_at, locked, 0, -rate, -rate * created_round, amount
from switching
where reached_at is not null and (ends is null or reached_at < ends)
union all
select
  owner, ends, locked, -amount,
  case when reached_at < ends then 0 else -rate end,
  case when reached_at < ends then 0 else -rate * created_round end,
  case when reached_at < ends then -amount else 0 end
from switching
where ends is not null
union all
select owner, begins, locked, 0, 0, 0, 0 from every where begins >= ends
