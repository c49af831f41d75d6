-- Coupons that a choice ended which no model knows, and templates that are named like a reward which no model reads.
select exercises.template_name, choice, 1 as rows
from exercises
join coupon_lives using (contract_id)
where consuming and outcome is null and exercises.template_name in (select template_name from coupon_kinds)
union all by name
-- Coupons without a round that only a round turns into coin, and coupons of the second version of an unknown kind.
select template_name, 1 as rows
from coupon_contracts
where wrong is null and contract_id not in (select contract_id from usable_coupons where kind is not null)
union all by name
select template_name, rows from unknown_reward_templates
