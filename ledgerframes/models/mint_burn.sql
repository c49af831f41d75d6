-- One row per update that creates, ends, mints or burns coin. Coin created less coin ended must be minted less burned.
with
created as (
  select update_id, migration_id, record_time, contract_id, amount
  from coin_contracts
  where shown_by = 'create' and wrong is null
),
-- Of coins that began before, the amounts alone.
known as (select contract_id, max(amount) as amount from coin_contracts where wrong is null group by contract_id),
ended as (
  select update_id, migration_id, record_time, contract_id, choice, known.amount
  from exercises
  left join known using (contract_id)
  where consuming and template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
),
-- Inputs whose creates are not known: a payment's summary states the sum of all its coins, which takes their place.
lost as (select contract_id, update_id from ended where amount is null),
input_coins as (
  select payments.event_id, payments.update_id, payments.migration_id, payments.record_time, coins, plain(value) as contract_id
  from payment_inputs
  join payments using (event_id)
  where tag = 'InputAmulet' and coins is not null and payments.update_id in (select update_id from lost)
),
settled as (
  select distinct event_id, update_id, migration_id, record_time, coins
  from input_coins
  semi join lost using (contract_id)
),
settled_coins as (select distinct contract_id from input_coins semi join settled using (event_id)),
changes as (
  select update_id, migration_id, record_time, amount, null as origin from created
  union all
  select
    update_id, migration_id, record_time,
    case when settled_coins.contract_id is null then -amount else 0::decimal(38, 10) end,
    case when amount is null and settled_coins.contract_id is null then 'unknown' end
  from ended
  left join settled_coins using (contract_id)
  union all
  select update_id, migration_id, record_time, -coins, 'summary' from settled
),
net as (
  select
    update_id, min(migration_id) as migration_id, min(record_time) as record_time,
    case when bool_or(coalesce(origin, '') = 'unknown') then null else coalesce(sum(amount), 0) end as net_change,
    case
      when bool_or(origin = 'unknown') then 'unknown'
      when bool_or(origin = 'summary') then 'summary'
      else 'creates'
    end as inputs_from
  from changes
  group by update_id
),
-- What mints and burns. `place` orders the entries of an update: its round is that of the first that states one.
entries as (
  select
    update_id, migration_id, record_time, round, price, node_index as place,
    coalesce(app, 0) as minted_app,
    coalesce(app_or_validator, 0) as minted_app_or_validator,
    coalesce(validator, 0) as minted_validator,
    coalesce(validator_faucet, 0) as minted_validator_faucet,
    coalesce(sv, 0) as minted_sv,
    coalesce(unclaimed_activity, 0) as minted_unclaimed_activity,
    coalesce(development_fund, 0) as minted_development_fund,
    case cause when 'traffic' then coalesce(paid, 0) end as burned_traffic,
    case cause when 'preapprovals' then coalesce(paid, 0) end as burned_preapprovals,
    -- Of a purchase of traffic, the fees of outputs are inside what was paid.
    coalesce(other_fees, 0)
      + case when cause = 'traffic' then 0 else coalesce(list_sum(output_fees), 0) end as burned_fees
  from payments
  union all by name
  -- Taps and mints made the coin that their result names.
  select
    made_coins.update_id, made_coins.migration_id, made_coins.record_time, round, 1000000 + node_index as place,
    case choice when 'AmuletRules_DevNet_Tap' then amount end as minted_tap,
    case choice when 'AmuletRules_Mint' then amount end as minted_other
  from made_coins
  join created on created.contract_id = coin
  union all by name
  -- An expiry burns the whole coin; of one that is not known, nobody states how much.
  select
    coin_expiries.update_id, coin_expiries.migration_id, coin_expiries.record_time, round,
    2000000 + node_index as place, ended.amount as burned_expiry, ended.amount is null as expiry_unknown
  from coin_expiries
  left join ended using (contract_id)
  union all by name
  -- A payment for a name collects a coin, which is burned in the same update; another subscription's coin stays.
  select
    collections.update_id, collections.migration_id, collections.record_time, 3000000 + node_index as place,
    created.amount as burned_names, created.amount is null as names_unknown
  from collections
  left join created on created.contract_id = coin
  where event_id in (select event_id from above where does = 'pays a name')
  union all by name
  -- Token-standard choices on the coin with neither a summary nor a payment below them state their fees in metadata; the
  -- outermost states them all.
  select update_id, migration_id, record_time, 4000000 + node_index as place, burned as burned_fees
  from standard_steps
  where burned is not null and choice in (select choice from choices where does = 'standard')
    and regexp_matches(template_name, '^Splice\.(Amulet|ExternalPartyAmulet)')
    and event_id not in (select event_id from above where does = 'standard')
    and event_id not in (
      select above_id
      from above
      where does = 'standard' and event_id in (select event_id from payment_results))
),
sums as (
  select
    update_id, min(migration_id) as migration_id, min(record_time) as record_time, arg_min(round, place) as round,
    arg_min(price, place) as price,
    coalesce(sum(columns('^(minted|burned)_.*')), 0)::decimal(38, 10),
    bool_or(coalesce(expiry_unknown, false)) as expiry_unknown, bool_or(coalesce(names_unknown, false)) as names_unknown
  from entries
  group by update_id
),
flows as (
  select
    update_id,
    coalesce(net.migration_id, sums.migration_id) as migration_id,
    coalesce(net.record_time, sums.record_time) as record_time,
    round, price, coalesce(columns('^(minted|burned)_.*'), 0)::decimal(38, 10), expiry_unknown, names_unknown,
    case when net.update_id is null then 0 else net_change end as net_change,
    coalesce(inputs_from, 'creates') as inputs_from
  from sums
  full join net using (update_id)
),
-- A sum with a value that is not known is not known.
honest as (
  select * replace (
    case when expiry_unknown then null else burned_expiry end as burned_expiry,
    case when names_unknown then null else burned_names end as burned_names)
  from flows
)
select
  update_id, record_time, round, price as amulet_price_usd,
  columns('^minted_.*'),
  burned_traffic, burned_names, burned_preapprovals, burned_fees, burned_expiry,
  net_change::decimal(38, 10) as net_change,
  (net_change
    - (minted_app + minted_app_or_validator + minted_validator + minted_validator_faucet + minted_sv + minted_unclaimed_activity
      + minted_development_fund + minted_tap + minted_other
      - burned_traffic - burned_names - burned_preapprovals - burned_fees - burned_expiry)
  )::decimal(38, 10) as unexplained,
  inputs_from
from honest
order by record_time, update_id
