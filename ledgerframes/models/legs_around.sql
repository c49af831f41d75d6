-- The legs on which the flows and anomalies from a time on depend: those of contracts that have a leg from then on, and those
-- that share the unassign id of one.
with
legs as (
  select
    kind, migration_id, record_time, update_id, contract_id, template_name,
    source_synchronizer, target_synchronizer, unassign_id, reassignment_counter,
    coalesce(unassign_id, contract_id || ' ' || reassignment_counter) as pair
  from reassignments
),
recent as materialized (
  select distinct contract_id, pair from legs where record_time >= make_timestamptz(getvariable('legs_from')::bigint)
)
select * exclude (pair)
from legs
where contract_id in (select contract_id from recent) or pair in (select pair from recent)
