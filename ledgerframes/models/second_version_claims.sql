-- One row per payment that claimed coupons of the second version, of which the payment's summary states one sum with an
-- application's: what of it is validators', and whether the kind of one is not known, since its create lies before.
with
claimed as (
  select exercises.contract_id, arg_min(above_id, above_index) as payment_id
  from exercises
  join above using (event_id)
  where exercises.template_name = 'Splice.Amulet:RewardCouponV2' and consuming and does = 'pays'
  group by exercises.contract_id
),
-- An assignment or an opening may show a coupon again, with the same terms.
known as (
  select contract_id, max(amount(stated_amount)) as amount, max(reward_kind(stated_kind)) as kind
  from second_version_coupons
  group by contract_id
)
select
  payment_id,
  coalesce(sum(amount) filter (kind = 'validator'), 0)::decimal(38, 10) as validators,
  bool_or(kind is null or amount is null) as kind_unknown
from claimed
left join known using (contract_id)
group by payment_id
