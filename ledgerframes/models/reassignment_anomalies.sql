-- One row per finding: legs that do not match, and counters that do not increase.
-- An assignment whose unassignment may lie before the range is not among them.
with
legs as (
  select
    *,
    -- Without an unassign id the legs of a contract are matched by the counter.
    coalesce(unassign_id, contract_id || ' ' || reassignment_counter) as pair
  from reassignments
),
away as (
  select
    *,
    row_number() over (partition by source_synchronizer, pair order by migration_id, record_time, update_id) as use,
    -- By synchronizer too, since only there record times are in the order in which things happened.
    lag(reassignment_counter) over (
      partition by contract_id, source_synchronizer order by migration_id, record_time, update_id) as counted,
    row_number() over (
      partition by contract_id, reassignment_counter order by migration_id, record_time, update_id) as repeat
  from legs
  where kind = 'unassignment'
),
back as (
  select
    legs.*,
    row_number() over (
      partition by source_synchronizer, pair order by legs.migration_id, legs.record_time, legs.update_id) as use,
    first.contract_id as away_contract,
    first.reassignment_counter as away_counter,
    first.target_synchronizer as away_target,
    exists (
      from reassignment_flows
      where edge is not null and contract_id = legs.contract_id and reassignment_counter = legs.reassignment_counter
        and source_synchronizer = legs.source_synchronizer) as at_edge
  from legs
  left join (from away where use = 1) as first using (source_synchronizer, pair)
  where legs.kind = 'assignment'
),
found as (
  select
    *,
    unnest([
      'counter not increasing', 'unassigned twice', 'repaired'
    ]) as anomaly,
    unnest([
      case
        when reassignment_counter <= counted then 'the one before was ' || counted
        when repeat > 1 then 'another unassignment has the same'
      end,
      case when use > 1 then 'the unassign id was used before' end,
      case when source_synchronizer = target_synchronizer then 'source and target are the same' end
    ]) as detail
  from away
  union all by name
  select
    *,
    unnest([
      'contract differs', 'counter differs', 'target differs', 'assigned twice', 'assigned without unassignment',
      'repaired'
    ]) as anomaly,
    unnest([
      case when contract_id <> away_contract then 'the unassignment says ' || away_contract end,
      case when reassignment_counter <> away_counter then 'the unassignment says ' || away_counter end,
      case when target_synchronizer <> away_target then 'the unassignment says ' || away_target end,
      case when use > 1 then 'the unassign id was assigned before' end,
      case when away_contract is null and not at_edge then 'its unassignment is not in this range' end,
      case when source_synchronizer = target_synchronizer then 'source and target are the same' end
    ]) as detail
  from back
)
select anomaly, contract_id, unassign_id, reassignment_counter, update_id, record_time, detail
from found
where detail is not null
order by migration_id, record_time, update_id, anomaly
