-- One row per contract that is active at the end of the history, in the order of creation, and where it is.
-- A contract that only an assignment shows was created where this history does not reach.
with
created as (
  select
    0 as stage, contract_id, template_id, template_name, package_name, created_at, signatories, observers, payload,
    synchronizer_id, 0 as reassignment_counter, migration_id, record_time, update_id, node_index
  from events
  where event_type = 'created_event' and asked(template_name)
),
assigned as (
  select
    1 as stage, contract_id, template_id, template_name, package_name, created_at, signatories, observers, payload,
    target_synchronizer as synchronizer_id, reassignment_counter, migration_id, record_time, update_id
  from reassignments
  where kind = 'assignment' and asked(template_name)
),
opened as (
  select
    -- A snapshot does not state where its contracts are; the history's rows of the same contracts are more complete.
    case when reassignment_counter is null then 2 else -1 end as stage,
    contract_id, template_id, template_name, package_name, created_at, signatories, observers, payload,
    synchronizer_id, source_synchronizer, target_synchronizer, reassignment_counter, in_flight,
    migration_id, record_time
  from opening
  where asked(template_name)
),
-- Ids alone at first: what is too large for the memory is written aside, and whole contracts take ten times as much.
alive as (
  select distinct contract_id
  from (
    select contract_id from events where event_type = 'created_event' and asked(template_name)
    union all select contract_id from assigned
    union all select contract_id from opened
  )
  -- There is no archived event: a consuming exercise ends a contract, whatever its choice.
  anti join (select contract_id from events where consuming) using (contract_id)
),
shown as (
  from (from created union all by name from assigned union all by name from opened)
  semi join alive using (contract_id)
),
-- A create that occurs twice in the history is one contract. Most occur once, and are not sorted.
repeated as (
  select contract_id from shown group by contract_id having count(*) > 1
),
contracts as (
  from shown anti join repeated using (contract_id)
  union all
  from shown semi join repeated using (contract_id)
  qualify row_number() over (
    partition by contract_id order by stage, migration_id, record_time, update_id, node_index) = 1
),
-- The latest leg by counter and not by time: an assignment may be recorded before its unassignment.
legs as (
  select
    contract_id, kind, reassignment_counter as counter,
    source_synchronizer as source, target_synchronizer as target
  from reassignments
  where contract_id in (select contract_id from contracts)
  qualify row_number() over (
    partition by contract_id order by reassignment_counter desc, kind, migration_id, record_time, update_id) = 1
),
placed as (
  select
    contracts.*,
    kind,
    counter,
    source,
    target,
    coalesce(counter >= coalesce(reassignment_counter, -1), false) as moved
  from contracts
  left join legs using (contract_id)
)
select
  contract_id,
  template_id,
  template_name,
  package_name,
  created_at,
  signatories,
  observers,
  payload,
  case when not moved then synchronizer_id when kind = 'assignment' then target end as synchronizer_id,
  case when not moved then source_synchronizer when kind = 'unassignment' then source end as source_synchronizer,
  case when not moved then target_synchronizer when kind = 'unassignment' then target end as target_synchronizer,
  case when moved then counter else reassignment_counter end as reassignment_counter,
  case when moved then kind = 'unassignment' when stage in (0, 1) then false else in_flight end as in_flight,
  migration_id,
  record_time
from placed
-- Contracts of a snapshot have a time of creation alone.
order by
  migration_id nulls first, record_time nulls first, case when record_time is null then created_at end, contract_id
