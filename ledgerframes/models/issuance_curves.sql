-- One row per configuration in a contract of the coin's rules, now or from a time on, with the values of its issuance
-- curve as stated, the first of them from the ledger's beginning on.
with
held as (
  select template_name, choice, state, null::bigint as from_us, config from config_states where rules = 'AmuletRules'
  union all
  select template_name, choice, state, epoch_us(effective_at), config
  from scheduled_configs
  where rules = 'AmuletRules' and wrong is null
),
curves as (
  select
    *, json_extract(config, '$.issuanceCurve.initialValue') as first_value,
    json_extract(config, '$.issuanceCurve.futureValues[*]') as later_values,
    string_split(json_extract_string(config, '$.packageConfig.amulet'), '.') as package
  from held
)
select
  template_name, choice, state, from_us,
  lead(from_us) over (partition by state order by from_us nulls first) as until_us,
  -- From this package on the development fund has a share that a configuration need not state. Null if none is named.
  list_transform(package, lambda number: coalesce(try_cast(number as bigint), -1)) >= [0, 1, 15] as has_fund,
  to_json(list_prepend(
    json_object('_1', json_object('microseconds', '0'), '_2', first_value), later_values))::varchar as steps
from curves
