-- One row per outermost exercise that takes coins and coupons in and returns a summary: a transfer inside a purchase is
-- the same payment. Validators' rewards contain their faucets, which are counted once.
with
outermost as (
  select payment_results.*, cause
  from payment_results
  join choices using (choice)
  where event_id not in (select event_id from above where does = 'pays')
)
select
  migration_id, record_time, update_id, node_index, event_id, outermost.choice, cause, sender, round, paid, inputs,
  -- The round of every coupon that it claimed, if it could use one only.
  case when json_array_length(issuing_rounds) = 1 then whole(issuing_rounds -> '$[0][0].number') end as claims_of_round,
  summaries.wrong is null as stated,
  app,
  validator_and_faucet - coalesce(validator_faucet, 0) as validator,
  validator_faucet, sv, unclaimed_activity, development_fund, coins,
  holding_fees + change_fee as other_fees,
  output_fees
from outermost
left join payment_summaries as summaries using (event_id)
