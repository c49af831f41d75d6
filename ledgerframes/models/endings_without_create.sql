-- One row per exercise on a coupon whose terms are not known: if it ended the coupon, what it states is all that is known.
select template_name, choice, contract_id, payload, exercise_result
from exercises
where template_name in (select template_name from coupon_kinds)
  and contract_id not in (select contract_id from usable_coupons)
