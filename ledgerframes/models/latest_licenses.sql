-- One row per validator: its latest license, and the choice that ended it. A license is created again at every change.
with
ends as (select contract_id, choice from endings where template_name = 'Splice.ValidatorLicense:ValidatorLicense')
select validator, sponsor, first_round, last_round, missed, version, choice
from license_contracts
left join ends using (contract_id)
where validator is not null and sponsor is not null
qualify row_number() over (
  partition by validator
  order by migration_id desc nulls last, record_time desc nulls last, update_id desc, node_index desc, contract_id desc)
  = 1
