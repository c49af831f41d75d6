-- One row per round: what its configuration lets it issue, to each pool. The coin per year times the tick over 365 days, shared
-- out; in whole numbers of the last place, since the ledger rounds every step.
with
issued as (
  select
    round, validator_percentage, app_percentage, development_fund_percentage,
    divided(units(amulet_to_issue_per_year) * tick_us, 31536000000000) as issued
  from round_history
),
shared as (
  select
    round, issued,
    divided(issued * units(coalesce(validator_percentage, 0::decimal(38, 10))), 10000000000) as validator,
    divided(issued * units(coalesce(app_percentage, 0::decimal(38, 10))), 10000000000) as app,
    divided(issued * units(coalesce(development_fund_percentage, 0::decimal(38, 10))), 10000000000) as development_fund
  from issued
)
select
  round, of_units(issued) as issued, of_units(validator) as validator, of_units(app) as app,
  of_units(development_fund) as development_fund, of_units(issued - validator - app - development_fund) as sv
from shared
order by round
