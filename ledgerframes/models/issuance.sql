-- One row per round: what the issuance curve allows each pool, and the outcome: the coupons of the round that were
-- minted, expired or are open, and what was burned while it was the round. With the next step of the curve.
with
own as (select * from round_pools where rounds is null),
-- The amounts that the curve's next step allows, so many rounds later.
later as (select * from round_pools where rounds is not null),
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
-- Coupons begin once their round is open and end once it issues. Whether the range, or its opening, has all of both.
given as (select count(*) > count(record_time) as opening from round_contracts),
held as (
  select
    round, opened_at is not null or opening as begins_held,
    opened_at is not null or (opening and issuing_at is not null) as ends_held
  from round_history
  cross join given
),
burns as (select round, sum_of_all(burned) as burned from placed_flows where round is not null group by round),
amounts as (
  select
    round, opens_at, amulet_price_usd, round_history.amulet_to_issue_per_year,
    own.issued as allowed, own.validator as allowed_validator, own.app as allowed_app,
    coin(worth(total_weight_featured_app, issuance_per_featured_app)) as allowed_featured_app,
    coin(worth(total_weight_unfeatured_app, issuance_per_unfeatured_app)) as allowed_unfeatured_app,
    own.sv as allowed_sv, own.development_fund as allowed_development_fund,
    -- A round without any has 0; a sum with an unknown part is null.
    case when not ends_held then null when coupons.round is null then 0 else minted end::decimal(38, 10) as minted,
    case when not ends_held then null when lapsed.round is null then 0 else expired end::decimal(38, 10) as expired,
    case
      when not begins_held then null
      when coupons.round is null and issuance_per_sv is not null then 0
      else open
    end::decimal(38, 10) as open,
    -- Payments use a round from when it opens on.
    case when opened_at is null then null when burns.round is null then 0 else burned end::decimal(38, 10) as burned,
    try(make_timestamptz((epoch_us(opens_at) + later.rounds * later.tick_us)::bigint)) as next_step_at,
    try(round + later.rounds) as next_step_round,
    later.amulet_to_issue_per_year as next_amulet_to_issue_per_year,
    later.issued as next_allowed, later.validator as next_allowed_validator, later.app as next_allowed_app,
    later.sv as next_allowed_sv, later.development_fund as next_allowed_development_fund,
    whole
  from round_history
  left join own using (round)
  left join coupons using (round)
  left join lapsed using (round)
  left join burns using (round)
  left join later using (round)
  left join held using (round)
),
valued as (
  select *, coin(worth(columns('^(allowed.*|minted|expired|open|burned)$'), amulet_price_usd)) as '\0_usd'
  from amounts
)
select
  *,
  -- The amounts before a range are unknown, unless it begins with the ledger.
  case
    when begun()
      and count(*) over running = count(columns('^(allowed|minted|expired|burned)(_usd)?$')) over running
    then (sum(columns('^(allowed|minted|expired|burned)(_usd)?$')) over running)::decimal(38, 10)
  end as 'cumulative_\0'
from valued
window running as (order by round)
order by round
