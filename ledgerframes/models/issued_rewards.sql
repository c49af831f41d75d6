-- One row per coupon of `rewards`: with the issuance of its round, its value in coin and in USD, where that became
-- known after it. None issues for a coupon that states coin, which is one of the second version: these state when they
-- expire.
with
worths as (
  select rewards.* replace (
    coalesce(rewards.issuance, issued.issuance) as issuance,
    coalesce(coin(worth(weight, issued.issuance)), amount) as amount)
  from rewards
  -- An application that is not known to be featured or not has no issuance.
  left join issuance_per_weight as issued
    on rewards.issuance is null and rewards.expires_at is null
    and issued.round = rewards.round and issued.kind = rewards.kind
    and issued.featured = case when rewards.kind = 'app' then rewards.featured else false end
)
select worths.* replace (coalesce(amount_usd, coin(worth(amount, amulet_price_usd))) as amount_usd)
from worths
left join round_history on round_history.round = worths.round
