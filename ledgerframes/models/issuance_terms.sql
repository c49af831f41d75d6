-- One row per round and what its pools come from: its own terms, and those of the first later round that has others, as the
-- rules hold them when it opens.
with
-- Where on the curve a round is; the open phase alone states it.
opened as (
  select
    round, arg_min(issuing_for_us, place) as issuing_for_us, min(place) as place
  from (
    select round, issuing_for_us, row(coalesce(migration_id, -1), coalesce(record_time, '-infinity')) as place
    from round_contracts
    where template_name = 'Splice.Round:OpenMiningRound' and issuing_for_us is not null
  )
  group by round
),
rules as (
  select state, record_time, row(coalesce(migration_id, -1), coalesce(record_time, '-infinity')) as since
  from config_states
  where rules = 'AmuletRules'
),
ruled as (select round, max(state) as state from opened join rules on since <= place group by round),
-- The rules at the time when a round begins to issue name the package that computes it.
issued as (
  select round, arg_max(has_fund, row(state, coalesce(from_us, 0))) as has_fund
  from round_history
  join rules on coalesce(rules.record_time, '-infinity') <= coalesce(issuing_at, 'infinity')
  join issuance_curves using (state)
  where coalesce(from_us, 0) <= coalesce(epoch_us(coalesce(issuing_at, opens_at)), 0)
  group by round
),
-- When each value of each configuration applies, in rounds from this one on of the same length.
ahead as (
  select
    round, tick_us, steps.*,
    greatest(
      -floored(opens_us - steps.from_us, tick_us), -floored(issuing_for_us - steps.after_us, tick_us)) as begins,
    least(
      -floored(opens_us - steps.until_us, tick_us), -floored(issuing_for_us - steps.next_us, tick_us)) as ends
  from opened
  join ruled using (round)
  join (select round, tick_us::hugeint as tick_us, epoch_us(opens_at) as opens_us from round_history) using (round)
  join (
    select *, lead(after_us) over (partition by state, from_us order by after_us) as next_us
    from issuance_steps
    where after_us is not null
  ) as steps using (state)
  where tick_us > 0
),
-- The first later round with other terms.
following as (
  select distinct on (round)
    round, begins::bigint as rounds, ahead.tick_us::bigint as tick_us, ahead.amulet_to_issue_per_year,
    ahead.validator_percentage, ahead.app_percentage, ahead.development_fund_percentage, has_fund
  from ahead
  join round_history as own using (round)
  where begins > 0 and (ends is null or begins < ends)
    and row(
      ahead.amulet_to_issue_per_year, ahead.validator_percentage, ahead.app_percentage, ahead.development_fund_percentage)
    is distinct from row(
      own.amulet_to_issue_per_year, own.validator_percentage, own.app_percentage, own.development_fund_percentage)
  order by round, begins
),
terms as (
  select
    round, null::bigint as rounds, tick_us::bigint as tick_us, amulet_to_issue_per_year, validator_percentage,
    app_percentage, development_fund_percentage, has_fund
  from round_history
  left join issued using (round)
  union all
  -- A step that cannot be read is not the next one that can.
  from following where amulet_to_issue_per_year is not null
)
select * replace (
  coalesce(development_fund_percentage, case has_fund when true then 0.05 when false then 0 end)::decimal(38, 10)
    as development_fund_percentage)
from terms
