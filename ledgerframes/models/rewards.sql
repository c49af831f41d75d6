-- One row per coupon that was created or ended in the events, or is in the opening.
select
  contract_id, kind, coupon_lives.round, provider, beneficiary, weight, featured, created_at, mint_after, expires_at,
  ended_at, outcome, issuance, amount, coin(worth(amount, amulet_price_usd)) as amount_usd
from coupon_lives
left join round_history on round_history.round = coupon_lives.round
order by created_at, ended_at, contract_id
