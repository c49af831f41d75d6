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
    'created' as event, kind, beneficiary as party, round, 1 as coupons, amount
  from coupon_lives
  where created_in is not null and contract_id not in (select contract_id from made_by_sharing)
),
-- The payment's summary states the sum of each kind, whether or not its coupons are known. Where a kind of the second
-- version is not known, an application's coupons are in one sum with it.
claims as (
  select
    coupon_lives.*, case when coupon_lives.kind = 'app' and kind_unknown then null else coupon_lives.kind end as summed_as
  from coupon_lives
  left join second_version_claims using (payment_id)
  where outcome = 'claimed'
),
coupon_groups as (
  select
    payment_id, summed_as as kind, count(*) as coupons,
    case when count(distinct round) = 1 and count(*) = count(round) then max(round) end as round,
    -- Coupons of several rounds, or of a kind that no round issues, have no price but that of their payment.
    (count(distinct round) > 1 and count(*) = count(round))
      or coalesce(summed_as in ('development_fund', 'unclaimed_activity'), false) as of_no_round
  from claims
  group by payment_id, summed_as
),
claim_rows as (
  select sums.payment_id, sums.kind, round, of_no_round, coalesce(coupons, 0) as coupons, amount
  from payment_rewards as sums
  left join coupon_groups
    on coupon_groups.payment_id = sums.payment_id and coupon_groups.kind is not distinct from sums.kind
  where amount <> 0 or coupons > 0
),
claimed as (
  select
    update_id, migration_id, record_time, 'claimed' as event, kind, sender as party,
    claim_rows.round, coupons, amount, case when of_no_round then price end as price
  from claim_rows
  join payments on payments.event_id = payment_id
  union all by name
  -- Of these no payment states a sum.
  select
    ended_in as update_id, ended_migration as migration_id, ended_at as record_time, 'claimed' as event,
    claims.kind, beneficiary as party, round, 1 as coupons, claims.amount
  from claims
  anti join payment_rewards
    on payment_rewards.payment_id = claims.payment_id and payment_rewards.kind is not distinct from summed_as
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
  -- The amounts that the ledger states beyond the rows above, if several are unknown.
  select
    update_id, migration_id, record_time, 'expired' as event, null as kind, null as party, null as round, 0 as coupons,
    rest::decimal(38, 10) as amount
  from compared
  where place = 1 and (unknown > 1 or (unknown = 0 and abs(rest) >= 0.0000001))
),
withdrawn as (
  select
    ended_in as update_id, ended_migration as migration_id, ended_at as record_time,
    'withdrawn' as event, kind, beneficiary as party, round, 1 as coupons, amount
  from coupon_lives
  where outcome = 'withdrawn'
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
    sum(coupons)::bigint as coupons, sum_of_all(amount) as amount,
    max(price) as price, count(*) = count(price) and min(price) = max(price) as priced
  from flows
  group by all
),
worths as (
  select
    grouped.* exclude (price, priced),
    case when grouped.round is not null then amulet_price_usd when priced then price end as price_usd
  from grouped
  left join round_history on round_history.round = grouped.round
)
select
  update_id, migration_id, record_time, event, kind, party, round, coupons, amount,
  coin(worth(amount, price_usd)) as amount_usd
from worths
order by migration_id, record_time, update_id, event, kind, party, round
