-- One row per mining round: what its contracts stated last, and when each phase began first.
-- Only the open phase states when a round opens and closes; the weights are those that its issuance was computed from.
with
contracts as (
  select
    *,
    -- An opening comes before everything; then the order of the history.
    row(
      coalesce(migration_id, -1), coalesce(record_time, '-infinity'), coalesce(update_id, ''), coalesce(node_index, -1)
    ) as place
  from round_contracts
  where round is not null
),
-- Only these phases' contracts state when the round opens and closes.
before_issuing as (
  select unnest(['Splice.Round:OpenMiningRound', 'Splice.Round:SummarizingMiningRound']) as template_name
),
totals as (
  select round, arg_max(columns('^total_weight_'), row(migration_id, record_time, update_id, node_index))
  from issuing_starts
  join (select distinct contract_id, round from contracts) as issued on issued.contract_id = issuing_contract
  group by round
),
stated as (
  select
    round,
    arg_max(amulet_price_usd, place) as amulet_price_usd,
    arg_max(opens_at, place) filter (template_name in (from before_issuing)) as opens_at,
    arg_max(target_closes_at, place) filter (template_name in (from before_issuing)) as target_closes_at,
    arg_max(tick_us, place) as tick_us,
    arg_max(holding_fee_usd, place) as holding_fee_usd,
    arg_max(columns('^(amulet_to_issue_per_year|.*_percentage|.*_cap(_usd)?|issuance_per_.*)$'), place),
    min(record_time) filter (template_name like '%:OpenMiningRound') as opened_at,
    min(record_time) filter (template_name like '%:SummarizingMiningRound') as summarizing_at,
    min(record_time) filter (template_name like '%:IssuingMiningRound') as issuing_at,
    min(record_time) filter (template_name like '%:ClosedMiningRound') as closed_at
  from contracts
  group by round
)
select
  stated.*, totals.* exclude (round),
  -- A range that begins, ends or has a gap within the round contains only a part of its coupons.
  opened_at is not null and closed_at is not null and not may_have_gap() as whole
from stated
left join totals using (round)
order by round
