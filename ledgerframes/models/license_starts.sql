-- One row per validator that licenses of the history name: when its first license was created. One that its update creates
-- again, from an older license of the same validator or of one that is not in the history, is none; null where all are such.
with
creates as (
  select
    update_id, node_index, record_time, contract_id, validator,
    struct_pack(migration_id, record_time, update_id, node_index) as place
  from license_contracts
  where shown_by = 'create'
),
ends as (
  select exercises.update_id, creates.place, creates.validator
  from exercises
  left join creates using (contract_id)
  where consuming and exercises.template_name = 'Splice.ValidatorLicense:ValidatorLicense'
),
renewed as (
  select distinct creates.update_id, creates.node_index
  from creates
  join ends
    on ends.update_id = creates.update_id and coalesce(ends.place < creates.place, true)
    and coalesce(ends.validator = creates.validator, true)
)
select validator, min(record_time) filter (renewed.update_id is null) as time
from creates
left join renewed using (update_id, node_index)
group by validator
