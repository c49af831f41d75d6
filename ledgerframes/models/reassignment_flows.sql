-- One row per reassignment: its two legs, joined by source, unassign id, contract and counter, whichever came first.
-- A leg may be missing because the range ends there. It does not where the contract has legs around it on the same
-- synchronizer in the same migration, since there record times are in the order in which things happened.
with
keyed as (
  select
    kind, migration_id, record_time, update_id, contract_id, template_name,
    source_synchronizer, target_synchronizer, unassign_id, reassignment_counter,
    hash(kind, contract_id, reassignment_counter, unassign_id, source_synchronizer) as key
  from reassignments
),
repeated as (
  select key from keyed group by key having count(*) > 1
),
-- Legs that repeat a key are numbered, so that none is lost; most do not.
legs as (
  select *, 1 as turn from keyed anti join repeated using (key)
  union all
  select
    *,
    row_number() over (
      partition by kind, contract_id, reassignment_counter, unassign_id, source_synchronizer
      order by migration_id, record_time, update_id) as turn
  from keyed
  semi join repeated using (key)
),
pairs as (
  select
    unassign_id, contract_id, source_synchronizer, reassignment_counter, turn,
    -- Only an assignment carries the contract.
    max(template_name) filter (kind = 'assignment') as template_name,
    -- What the unassignment says, if it is there: it is the later kind in the alphabet.
    arg_max(target_synchronizer, kind) as target_synchronizer,
    arg_max(migration_id, kind) as migration_id,
    max(record_time) filter (kind = 'unassignment') as unassigned_at,
    max(record_time) filter (kind = 'assignment') as assigned_at
  from legs
  group by all
),
lone as (
  select contract_id from pairs where unassigned_at is null or assigned_at is null
),
places as (
  select
    contract_id,
    migration_id,
    case kind when 'assignment' then target_synchronizer else source_synchronizer end as synchronizer,
    min(reassignment_counter) as first,
    max(reassignment_counter) as last
  from reassignments
  where contract_id in (select contract_id from lone)
  group by all
)
select
  pairs.unassign_id,
  pairs.contract_id,
  template_name,
  source_synchronizer,
  target_synchronizer,
  reassignment_counter,
  unassigned_at,
  assigned_at,
  epoch_us(assigned_at) - epoch_us(unassigned_at) as in_flight,
  case
    when source_synchronizer = target_synchronizer then 'repaired'
    when unassigned_at is null then 'assigned without unassignment'
    when assigned_at is null then 'in flight'
    else 'completed'
  end as status,
  case
    when unassigned_at is null and not (begun() or coalesce(first < reassignment_counter and last > reassignment_counter, false)) then
      case when first < reassignment_counter then 'end' else 'start' end
    when unassigned_at is not null and assigned_at is null and not coalesce(last > reassignment_counter, false) then 'end'
  end as edge
from pairs
left join places
  on (unassigned_at is null or assigned_at is null) and places.contract_id = pairs.contract_id
  and places.migration_id = pairs.migration_id
  and synchronizer = case when unassigned_at is null then source_synchronizer else target_synchronizer end
order by
  coalesce(unassigned_at, assigned_at), pairs.unassign_id, pairs.contract_id, reassignment_counter,
  source_synchronizer, turn
