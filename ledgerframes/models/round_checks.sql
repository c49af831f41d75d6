-- How many rounds issue to super validators what their own configuration says: the coin per year times the tick over 365
-- days, less the shares of validators, applications and the development fund, over the total weight.
-- In whole numbers of the last place, since the ledger rounds every step.
with
issued as (
  select
    issuance_per_sv, total_weight_sv, validator_percentage, app_percentage, development_fund_percentage,
    divided(units(amulet_to_issue_per_year) * tick_us, 31536000000000) as issued
  from round_history
),
computed as (
  select
    units(issuance_per_sv) as stated,
    case when total_weight_sv > 0 then
      divided(
        (issued
          - divided(issued * units(coalesce(validator_percentage, 0::decimal(38, 10))), 10000000000)
          - divided(issued * units(coalesce(app_percentage, 0::decimal(38, 10))), 10000000000)
          - divided(issued * units(coalesce(development_fund_percentage, 0::decimal(38, 10))), 10000000000)
        ) * 10000000000,
        units(total_weight_sv))
    end as computed
  from issued
)
select
  'issuance_per_sv' as what,
  count(*) filter (stated = computed) as equal,
  count(*) filter (stated <> computed) as different,
  count(*) filter (stated is null or computed is null) as unknown
from computed
