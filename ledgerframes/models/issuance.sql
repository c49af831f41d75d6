-- One row per round: what the issuance curve allows, to each pool, and what became of it: the coupons of the round that were
-- minted, expired or are open, and what was burned while it was the round. With the next step of the curve.
with
-- Where on the curve a round is; the open phase alone states it.
opened as (
  select
    round, arg_min(issuing_for_us, place) as issuing_for_us, min(place) as place
  from (
    select round, issuing_for_us, row(coalesce(migration_id, -1), coalesce(record_time, '-infinity')) as place
    from round_contracts
    where template_name = 'Splice.Round:OpenMiningRound' and issuing_for_us is not null
  )
  group by round
),
-- Its configuration is that of the rules that held then.
ruled as (
  select round, max(state) as state
  from opened
  join issuance_curves
    on row(coalesce(issuance_curves.migration_id, -1), coalesce(issuance_curves.record_time, '-infinity')) <= place
  group by round
),
later as (
  select round, min(after_us) as after_us, arg_min(amulet_to_issue_per_year, after_us) as coin_per_year
  from opened
  join ruled using (round)
  join issuance_steps using (state)
  where after_us > issuing_for_us and wrong is null
  group by round
),
-- How many rounds of the same length the next step is away.
steps as (
  select
    round, coin_per_year, tick_us,
    case when tick_us > 0 then ((after_us::hugeint - issuing_for_us + tick_us - 1) // tick_us)::bigint end as rounds
  from later
  join opened using (round)
  join round_history using (round)
),
coupons as (
  select
    round, sum_where(amount, outcome = 'claimed') as minted, sum_where(amount, outcome = 'open') as open
  from coupon_lives
  where round is not null
  group by round
),
-- The ledger sums what expired together, and rounds once.
lapsed as (
  select round, sum_of_all(amount) as expired from reward_flows where event = 'expired' and round is not null group by round
),
burns as (select round, sum_of_all(burned) as burned from placed_flows where round is not null group by round),
amounts as (
  select
    round, opens_at, amulet_price_usd, amulet_to_issue_per_year,
    pools.issued as allowed, pools.validator as allowed_validator, pools.app as allowed_app,
    coin(worth(total_weight_featured_app, issuance_per_featured_app)) as allowed_featured_app,
    coin(worth(total_weight_unfeatured_app, issuance_per_unfeatured_app)) as allowed_unfeatured_app,
    pools.sv as allowed_sv, pools.development_fund as allowed_development_fund,
    -- A round without any has 0; a sum of which a part is not known is null.
    case when coupons.round is null then 0 else minted end::decimal(38, 10) as minted,
    case when lapsed.round is null then 0 else expired end::decimal(38, 10) as expired,
    case when coupons.round is null and issuance_per_sv is not null then 0 else open end::decimal(38, 10) as open,
    case when burns.round is null then 0 else burned end::decimal(38, 10) as burned,
    try(make_timestamptz(epoch_us(opens_at) + steps.rounds * steps.tick_us)) as next_step_at,
    try(round + steps.rounds) as next_step_round,
    steps.coin_per_year as next_amulet_to_issue_per_year,
    whole
  from round_history
  left join round_pools as pools using (round)
  left join coupons using (round)
  left join lapsed using (round)
  left join burns using (round)
  left join steps using (round)
),
valued as (
  select *, coin(worth(columns('^(allowed.*|minted|expired|open|burned)$'), amulet_price_usd)) as '\0_usd'
  from amounts
)
select
  *,
  -- What was before a range is not known, unless it begins with the ledger.
  case
    when coalesce(getvariable('begun')::boolean, true)
      and count(*) over running = count(columns('^(allowed|minted|expired|burned)(_usd)?$')) over running
    then (sum(columns('^(allowed|minted|expired|burned)(_usd)?$')) over running)::decimal(38, 10)
  end as 'cumulative_\0'
from valued
window running as (order by round)
order by round
