-- One row per coupon that was created or ended in the events, or is in the opening, without what sums of the ledger say of
-- single ones, which `stated_coupons` has.
-- A coupon states a weight; its coin is the weight times what its round issues, or the weight itself where `in_coin`.
-- Of a coupon that began before the events, only what the ledger states at its end is there: an expiry the weight and
-- the round's contract, a claim the sum of its kind in the payment's summary.
with
-- Both, joined once: a coupon that has no terms began before the events.
joined as (
  select
    contract_id, coalesce(terms.kind, ends.kind) as kind, coalesce(terms.in_coin, ends.in_coin) as in_coin,
    round, provider, beneficiary,
    case terms.kind when 'validator_faucet' then 1::decimal(38, 10) else weight end as weight,
    featured, created_at, instant(mint_after) as mint_after, instant(expires_at) as expires_at,
    terms.contract_id is not null as begun, migration_id, record_time, update_id,
    ended_at, ended_in, ended_below, ended_migration, payment_id,
    case when ends.contract_id is null then 'open' else outcome end as outcome
  from usable_coupons as terms
  full join coupon_ends as ends using (contract_id)
),
-- Coupons that expire together belong to one round. Only of those that expired with one whose terms are not known: few.
unknown as (
  select ended_below
  from coupon_ends
  where contract_id in (select contract_id from endings_without_create)
),
together as (
  select ended_below, max(round) as round
  from coupon_ends
  join usable_coupons using (contract_id)
  where outcome = 'expired' and not usable_coupons.in_coin and ended_below in (select ended_below from unknown)
  group by ended_below
),
round_of as (select distinct contract_id, round from round_contracts where round is not null),
-- In one pass over all: a copy of those that began would be large.
coupons as (
  select joined.* replace (
    case
      when begun then joined.round
      else coalesce(
        round_of.round, together.round, case when outcome = 'claimed' and not joined.in_coin then claims_of_round end)
    end as round,
    case
      when begun then joined.weight
      when in_coin then unclaimed_amounts.amount
      when kind = 'validator_faucet' then 1::decimal(38, 10)
      else coupon_endings.weight
    end as weight,
    case when begun then joined.featured else coupon_endings.featured end as featured)
  from joined
  left join coupon_endings on coupon_endings.contract_id = joined.contract_id and not begun
  left join round_of on round_of.contract_id = round_contract
  left join together on together.ended_below = joined.ended_below and not begun
  left join unclaimed_amounts on unclaimed_amounts.contract_id = becomes
  left join payments on payments.event_id = payment_id and not begun
),
-- Both of 20 places: decimals of two scales in one column would be cut to the fewer, silently.
valued as (
  select
    coupons.*,
    issuance,
    case when in_coin then try_cast(weight as decimal(38, 20)) else worth(weight, issuance) end as worth
  from coupons
  -- An application that is not known to be featured or not has no issuance.
  left join issuance_per_weight as issued
    on issued.round = coupons.round and issued.kind = coupons.kind and not in_coin
    and issued.featured = case when coupons.kind = 'app' then coupons.featured else false end
)
select
  contract_id, kind, round, provider, coalesce(beneficiary, provider) as beneficiary, weight, featured, created_at,
  mint_after, expires_at, ended_at, outcome, issuance, coin(worth) as amount, worth, in_coin, update_id as created_in,
  migration_id as created_migration, record_time as created_recorded_at, ended_in, ended_migration, ended_below, payment_id
from valued
