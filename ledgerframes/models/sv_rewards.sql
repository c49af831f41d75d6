-- One row per round, super validator and beneficiary: the rewards of kind sv.
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
order by round, sv, beneficiary
