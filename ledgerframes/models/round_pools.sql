-- One row per round and what its terms let it issue, to each pool; and one for what those of its next step do, so many rounds
-- later. The coin per year times the tick over 365 days; the development fund has its share of all, the others of the rest. In
-- whole numbers of the last place, since the ledger rounds every step.
with
issued as (
  select
    *, divided(units(amulet_to_issue_per_year) * tick_us, 31536000000000) as issued
  from issuance_terms
),
rest as (
  select *, divided(issued * units(development_fund_percentage), 10000000000) as development_fund from issued
),
shared as (
  select
    *, divided((issued - development_fund) * units(coalesce(validator_percentage, 0::decimal(38, 10))), 10000000000)
      as validator,
    divided((issued - development_fund) * units(coalesce(app_percentage, 0::decimal(38, 10))), 10000000000) as app
  from rest
)
select
  round, rounds, tick_us, amulet_to_issue_per_year, of_units(issued) as issued, of_units(validator) as validator,
  of_units(app) as app, of_units(development_fund) as development_fund,
  of_units(issued - validator - app - development_fund) as sv
from shared
order by round, rounds
