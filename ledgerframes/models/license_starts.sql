-- One row per validator that licenses of the history name: when its first license was created. One that its update creates
-- again, from an older license of the same validator or of one that is not in the history, is none; null where all are such.
with
creates as (
  select
    *, row_number() over (order by migration_id, record_time, update_id, node_index) as place
  from license_contracts
  where shown_by = 'create'
),
ends as (
  select exercises.update_id, coalesce(creates.place, -1) as place, creates.validator
  from exercises
  left join creates using (contract_id)
  where consuming and exercises.template_name = 'Splice.ValidatorLicense:ValidatorLicense'
),
renewed as (
  select distinct creates.place
  from creates
  join ends
    on ends.update_id = creates.update_id and ends.place < creates.place
    and coalesce(ends.validator = creates.validator, true)
)
select validator, min(record_time) filter (place not in (select place from renewed)) as time
from creates
group by validator
