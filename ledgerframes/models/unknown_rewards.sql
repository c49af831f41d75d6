-- Coupons that a choice ended which no model knows, and templates that are named like a reward which no model reads.
select exercises.template_name, choice
from exercises
join rewards using (contract_id)
where consuming and outcome is null and exercises.template_name in (select template_name from coupon_kinds)
union all by name
select template_name
from creates
where shown_by = 'create'
  and template_name like 'Splice.%'
  and regexp_matches(template_name, '(?i)(coupon|reward|activityrecord)')
  and template_name not in (select template_name from coupon_kinds)
  and template_name not in (
    'Splice.Amulet:UnclaimedReward', 'Splice.Amulet:UnclaimedDevelopmentFundCoupon', 'Splice.DSO.SvState:SvRewardState')
