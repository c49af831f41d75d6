-- Coin that each payment minted for coupons, by kind, as its summary states it; the kind is null where coupons of the
-- second version may be an application's or a validator's.
select payment_id, case when kind <> 'app_or_validator' then kind end as kind, amount
from (
  unpivot (
    select
      event_id as payment_id, app, app_or_validator, validator, validator_faucet, sv, unclaimed_activity, development_fund
    from payments
  )
  on app, app_or_validator, validator, validator_faucet, sv, unclaimed_activity, development_fund
  into name kind value amount
)
