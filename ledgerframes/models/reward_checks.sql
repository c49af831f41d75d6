-- The ledger's own sums against the coupons: what each `UnclaimedReward` states against what expired with it, rounded
-- once, and the inputs of each payment's summary against what it claimed, by kind.
with
expired as (
  select
    ended_below, max(unclaimed_amounts.amount) as stated,
    case when count(*) = count(worth) then coin(sum(worth)) end as computed
  from coupon_lives
  join unclaimed_amounts on unclaimed_amounts.parent_event_id = ended_below
  where outcome = 'expired' and not in_coin
    and unclaimed_amounts.template_name = 'Splice.Amulet:UnclaimedReward'
  group by ended_below
),
claimed as (
  select payment_id, kind, case when count(*) = count(worth) then sum(coin(worth)) end as computed
  from coupon_lives
  where outcome = 'claimed' and payment_id is not null
  group by payment_id, kind
),
claims as (
  select
    payment_id, kind, payment_rewards.amount as stated,
    case when claimed.payment_id is null then 0 else computed end as computed
  from (
    from payment_rewards
    where payment_id in (select payment_id from claimed) and kind is not null
  ) as payment_rewards
  left join claimed using (payment_id, kind)
  where claimed.payment_id is not null or payment_rewards.amount <> 0
),
compared as (
  select 'unclaimed_rewards' as what, stated, computed from expired
  union all
  select 'claims' as what, stated, computed from claims
)
select
  what,
  count(*) filter (stated = computed) as equal,
  count(*) filter (stated <> computed) as different,
  count(*) filter (stated is null or computed is null) as unknown
from compared
group by what
order by what
