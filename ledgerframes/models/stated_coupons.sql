-- Coupons whose amount follows from a sum that the ledger states, where nothing else states it.
with
-- Few; what ended together with them is all that is summed.
unknown as (
  select payment_id, kind, outcome, ended_below
  from valued_coupons
  where worth is null and outcome in ('claimed', 'expired')
),
-- How many coupons, of whatever kind, expired together.
sizes as (
  select parent_event_id as ended_below, count(*) as size
  from exercises
  where choice in (select choice from choices where does = 'expires coupon')
    and parent_event_id in (select ended_below from unknown)
  group by parent_event_id
)
-- A payment's summary states the sum of each kind: if one coupon's is not known, it is the rest.
select
  max(contract_id) filter (worth is null) as contract_id,
  (max(payment_rewards.amount) - coalesce(sum(valued_coupons.amount), 0))::decimal(38, 10) as amount
from valued_coupons
semi join unknown using (payment_id, kind, outcome)
join payment_rewards using (payment_id, kind)
where outcome = 'claimed'
group by payment_id, kind
having count(*) - count(worth) = 1
union all
-- A coupon that expired alone is worth the unclaimed sum. Of several it is not exact, since their sum was rounded once,
-- unless they state coin: then one that is not known is the rest.
select
  max(valued_coupons.contract_id) filter (worth is null) as contract_id,
  (max(unclaimed_amounts.amount) - coalesce(sum(valued_coupons.amount) filter (in_coin), 0))::decimal(38, 10) as amount
from valued_coupons
semi join unknown using (ended_below, outcome)
join unclaimed_amounts on unclaimed_amounts.parent_event_id = ended_below
left join sizes using (ended_below)
where outcome = 'expired'
group by ended_below
having (count(*) = 1 and coalesce(max(size), 1) = 1) or (bool_and(in_coin) and count(*) - count(worth) = 1)
