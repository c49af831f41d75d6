-- One row per validator and day on which a license of it was created: the last of the day, until the day on which the next
-- one is created or on which it is cancelled or withdrawn. Every other choice creates it again. What was active before the
-- events was created when it says.
with
gone as (
  select contract_id, min(record_time) as ended_at
  from exercises
  where template_name = 'Splice.ValidatorLicense:ValidatorLicense'
    and choice in ('ValidatorLicense_Cancel', 'ValidatorLicense_Withdraw')
  group by contract_id
),
states as (
  select *, day_of(coalesce(record_time, created_at)) as day
  from license_contracts
  where shown_by <> 'assignment' and validator is not null and sponsor is not null
  qualify row_number() over (
    partition by validator, day
    order by migration_id desc nulls last, record_time desc nulls last, node_index desc, contract_id desc) = 1
)
select
  day, validator, sponsor, first_round, last_round, missed, version, created_at, ended_at,
  -- least() leaves nulls out.
  least(day_of(ended_at), lead(day) over (partition by validator order by day)) as until,
  row_number() over (
    partition by validator
    order by migration_id desc nulls last, record_time desc nulls last, node_index desc, contract_id desc) = 1 as latest
from states
left join gone using (contract_id)
order by day, validator
