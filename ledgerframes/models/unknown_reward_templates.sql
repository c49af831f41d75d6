-- Templates of the coin's packages that are named like a reward and that no model reads.
select template_name, null::varchar as choice, rows
from (select template_name, count(*) as rows from creates where shown_by = 'create' group by template_name)
where template_name like 'Splice.%'
  and regexp_matches(template_name, '(?i)(coupon|reward|activityrecord)')
  and template_name not in (select template_name from coupon_kinds)
  and template_name not in (
    'Splice.Amulet:UnclaimedReward', 'Splice.Amulet:UnclaimedDevelopmentFundCoupon', 'Splice.DSO.SvState:SvRewardState',
    -- Templates that lead to coupons of the second version.
    'Splice.Amulet.RewardAccountingV2:CalculateRewardsV2', 'Splice.Amulet.RewardAccountingV2:ProcessRewardsV2')
