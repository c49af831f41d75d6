-- Coin that each payment minted for coupons, by kind, as its summary states it.
unpivot (
  select event_id as payment_id, app, validator, validator_faucet, sv, unclaimed_activity, development_fund
  from payments
)
on app, validator, validator_faucet, sv, unclaimed_activity, development_fund
into name kind value amount
