-- The templates of coupons: the kind of reward, and whether their weight is coin, so that no round issues it.
-- A coupon of the second version states its kind itself. All of them, or those of the kind that is asked for.
select * from (values
  ('Splice.Amulet:AppRewardCoupon', 'app', false),
  ('Splice.Amulet:ValidatorRewardCoupon', 'validator', false),
  ('Splice.Amulet:SvRewardCoupon', 'sv', false),
  ('Splice.ValidatorLicense:ValidatorFaucetCoupon', 'validator_faucet', false),
  ('Splice.ValidatorLicense:ValidatorLivenessActivityRecord', 'validator_faucet', false),
  ('Splice.Amulet:DevelopmentFundCoupon', 'development_fund', true),
  ('Splice.Amulet:UnclaimedActivityRecord', 'unclaimed_activity', true),
  ('Splice.Amulet:RewardCouponV2', null, true)
) as known(template_name, kind, in_coin)
where getvariable('coupons') is null or kind = getvariable('coupons')
