-- One row per outermost exercise that takes coins and coupons in and returns a summary: a transfer inside a purchase is
-- the same payment. Validators' rewards contain their faucets, which are counted once. What coupons of the second version
-- were minted for that are validators' is theirs; where the kind of one is not known, it is an application's or theirs.
with
outermost as (
  select payment_results.*, cause
  from payment_results
  join choices using (choice)
  where event_id not in (select event_id from above where does = 'pays')
)
select
  migration_id, record_time, update_id, node_index, event_id, outermost.choice, cause, coalesce(sender, provider) as sender, round, paid,
  -- The round of every coupon that a round issues and it claimed, if it could use one only.
  case when json_array_length(issuing_rounds) = 1 then whole(issuing_rounds -> '$[0][0].number') end as claims_of_round,
  summaries.wrong is null as stated,
  -- Coupons of the second version are all in the applications' sum, whatever their kind, in the known releases.
  case
    when kind_unknown then null
    when app >= validators then app - validators
    else app
  end::decimal(38, 10) as app,
  case when kind_unknown and app >= validators then app - validators when kind_unknown then app end::decimal(38, 10)
    as app_or_validator,
  (validator_and_faucet - coalesce(validator_faucet, 0)
    + case when app >= validators then validators else 0::decimal(38, 10) end)::decimal(38, 10) as validator,
  validator_faucet, sv, unclaimed_activity, development_fund, coins,
  price,
  holding_fees + change_fee as other_fees,
  output_fees
from outermost
left join payment_summaries as summaries using (event_id)
left join second_version_claims as second on second.payment_id = event_id
