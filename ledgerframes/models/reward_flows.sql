-- One row per update, event, kind, party and round: reward coupons that were created, claimed, expired or withdrawn, by
-- the time of that event and not of the coupon's create. A coupon that was shared counts once, when it was earned.
with
made_by_sharing as (
  select contract_id
  from coupon_contracts
  where parent_event_id in (select event_id from exercises join choices using (choice) where does = 'shares')
),
created as (
  select
    created_in as update_id, created_migration as migration_id, created_recorded_at as record_time,
    'created' as event, kind, beneficiary as party, round, count(*) as coupons, sum_of_all(amount) as amount
  from coupon_lives
  where created_in is not null and contract_id not in (select contract_id from made_by_sharing)
  group by all
),
-- The payment's summary states the sum of each kind, whether or not its coupons are known. Among an application's it sums
-- every coupon of the second version: those that state another kind are taken out, and while the kind of one is not
-- known, neither is that of the sum.
claims as (
  select
    *, kind is null or (in_coin and kind in ('validator', 'validator_faucet', 'sv')) as apart,
    case when apart then 'app' else kind end as summed_as
  from coupon_lives
  where outcome = 'claimed'
),
coupon_groups as (
  select
    payment_id, kind, summed_as, apart, count(*) as coupons,
    case when count(distinct round) = 1 and count(*) = count(round) then max(round) end as round,
    sum_of_all(amount) as amount
  from claims
  semi join payment_rewards on payment_rewards.payment_id = claims.payment_id and payment_rewards.kind = summed_as
  group by payment_id, kind, summed_as, apart
),
taken_out as (
  select payment_id, bool_or(kind is null) as kind_unknown, sum_of_all(case when kind is null then 0 else amount end) as amount
  from coupon_groups
  where apart
  group by payment_id
),
sums as (
  select
    payment_id, payment_rewards.kind as summed_as, kind_unknown,
    case when payment_rewards.kind = 'app' and taken_out.payment_id is not null
      then (payment_rewards.amount - taken_out.amount)::decimal(38, 10)
      else payment_rewards.amount end as amount
  from payment_rewards
  left join taken_out using (payment_id)
),
claim_rows as (
  select
    payment_id,
    case when sums.summed_as = 'app' and kind_unknown then null else sums.summed_as end as kind,
    coupon_groups.round, coalesce(coupon_groups.coupons, 0) as coupons, sums.amount
  from sums
  left join (from coupon_groups where not apart) as coupon_groups using (payment_id, summed_as)
  where sums.amount is null or sums.amount <> 0 or coupon_groups.coupons > 0
  union all
  select payment_id, kind, round, coupons, case when kind is null then 0::decimal(38, 10) else amount end as amount
  from coupon_groups
  where apart
),
claimed as (
  select
    update_id, migration_id, record_time, 'claimed' as event, kind, sender as party,
    coalesce(claim_rows.round, claims_of_round) as round, coupons, amount
  from claim_rows
  join payments on payments.event_id = payment_id
  union all by name
  -- Of these no payment states a sum.
  select
    ended_in as update_id, ended_migration as migration_id, ended_at as record_time, 'claimed' as event,
    claims.kind, beneficiary as party, round, count(*) as coupons, sum_of_all(claims.amount) as amount
  from claims
  anti join payment_rewards on payment_rewards.payment_id = claims.payment_id and payment_rewards.kind = summed_as
  group by all
),
expired_groups as (
  select
    ended_in as update_id, ended_migration as migration_id, ended_at as record_time, ended_below, in_coin,
    kind, beneficiary as party, round, count(*) as coupons,
    case when count(*) = count(worth) then coin(sum(worth)) when count(*) = 1 then max(amount) end as amount
  from coupon_lives
  where outcome = 'expired'
  group by all
),
unclaimed as (
  select parent_event_id as ended_below, sum_of_all(amount) as stated
  from unclaimed_amounts
  where template_name = 'Splice.Amulet:UnclaimedReward' and parent_event_id is not null
  group by parent_event_id
),
compared as (
  select
    expired_groups.*,
    stated - coalesce(sum(amount) over together, 0) as rest,
    count(*) filter (amount is null) over together as unknown,
    row_number() over (together order by amount desc nulls first, kind, party, round) as place
  from expired_groups
  left join unclaimed using (ended_below)
  window together as (partition by ended_below, in_coin)
),
-- The ledger rounds the sum of what expired together: a row that is not known is the rest of it, and the largest row
-- takes the last places, so that the rows add up to what became unclaimed.
expired as (
  select
    update_id, migration_id, record_time, 'expired' as event, kind, party, round, coupons,
    case
      when unknown = 1 and amount is null then rest
      when unknown = 0 and place = 1 and abs(rest) < 0.0000001 then amount + rest
      else amount
    end::decimal(38, 10) as amount
  from compared
  union all
  -- What the ledger states beyond the rows above, if several are not known.
  select
    update_id, migration_id, record_time, 'expired' as event, null as kind, null as party, null as round, 0 as coupons,
    rest::decimal(38, 10) as amount
  from compared
  where place = 1 and (unknown > 1 or (unknown = 0 and abs(rest) >= 0.0000001))
),
withdrawn as (
  select
    ended_in as update_id, ended_migration as migration_id, ended_at as record_time,
    'withdrawn' as event, kind, beneficiary as party, round, count(*) as coupons, sum_of_all(amount) as amount
  from coupon_lives
  where outcome = 'withdrawn'
  group by all
),
flows as (
  select * from created
  union all by name
  select * from claimed
  union all by name
  select * from expired
  union all by name
  select * from withdrawn
),
grouped as (
  select
    update_id, migration_id, record_time, event, kind, party, round,
    sum(coupons)::bigint as coupons, sum_of_all(amount) as amount
  from flows
  group by all
)
select
  update_id, migration_id, record_time, event, kind, party, grouped.round, coupons, amount,
  coin(worth(amount, amulet_price_usd)) as amount_usd
from grouped
left join round_history on round_history.round = grouped.round
order by migration_id, record_time, update_id, event, kind, party, grouped.round
