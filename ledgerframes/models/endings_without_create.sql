-- One row per exercise on a coupon whose terms are not known: if it ended the coupon, what it states is all that is known.
with
-- Ids alone at first: exercises on coupons are many, few of these coupons are unknown, and payloads are large.
unknown as (
  select distinct contract_id
  from exercises
  anti join usable_coupons using (contract_id)
  where template_name in (select template_name from coupon_kinds)
)
select template_name, choice, contract_id, payload, exercise_result
from exercises
semi join unknown using (contract_id)
where template_name in (select template_name from coupon_kinds)
