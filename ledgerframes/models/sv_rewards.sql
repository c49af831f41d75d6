-- One row per round, super validator and beneficiary: the rewards of kind sv.
with
sums as (
  select
    round,
    provider as sv,
    beneficiary,
    sum_of_all(weight) as weight,
    case when count(*) = count(amount) then sum(amount)::decimal(38, 10) end as amount,
    -- An outcome that is not known is one of several too.
    case
      when count(distinct outcome) + max(case when outcome is null then 1 else 0 end) > 1 then 'mixed'
      else max(outcome)
    end as outcome
  from coupon_lives
  where kind = 'sv' and provider is not null
  group by round, provider, beneficiary
)
select
  sums.round, opened_at, sv, beneficiary, weight, amount, coin(worth(amount, amulet_price_usd)) as amount_usd, outcome,
  coalesce(whole, false) as whole
from sums
left join round_history on round_history.round = sums.round
order by sums.round, sv, beneficiary
