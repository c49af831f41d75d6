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
      {'anomaly': 'counter not increasing', 'detail': case
        when reassignment_counter <= counted then 'the one before was ' || counted
        when repeat > 1 then 'another unassignment has the same'
      end},
      {'anomaly': 'unassigned twice', 'detail': case when use > 1 then 'the unassign id was used before' end}
    ], recursive := true)
  from away
  union all by name
  select
    *,
    unnest([
      {'anomaly': 'contract differs',
        'detail': case when contract_id <> away_contract then 'the unassignment says ' || away_contract end},
      {'anomaly': 'counter differs',
        'detail': case when reassignment_counter <> away_counter then 'the unassignment says ' || away_counter end},
      {'anomaly': 'target differs',
        'detail': case when target_synchronizer <> away_target then 'the unassignment says ' || away_target end},
      {'anomaly': 'assigned twice', 'detail': case when use > 1 then 'the unassign id was assigned before' end},
      {'anomaly': 'assigned without unassignment',
        'detail': case when away_contract is null and not at_edge then 'its unassignment is not in this range' end}
    ], recursive := true)
  from back
  union all by name
  select *, 'repaired' as anomaly, 'source and target are the same' as detail
  from legs
  where source_synchronizer = target_synchronizer
)
select anomaly, contract_id, unassign_id, reassignment_counter, update_id, record_time, detail
from found
where detail is not null
order by migration_id, record_time, update_id, anomaly
