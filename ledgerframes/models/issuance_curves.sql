-- One row per contract of the coin's rules, with the later steps of its issuance curve as they are.
select
  'Splice.AmuletRules:AmuletRules' as template_name, null::varchar as choice, migration_id, record_time, state,
  members(config, ['$.issuanceCurve.futureValues'])[1] as steps
from config_states
where rules = 'AmuletRules'
