-- One row per exercise that mints or burns coin: how much, and whose it is. `place` orders those of an update.
with
created as (select * from coin_changes where what = 'created'),
ended as (select * from coin_changes where what = 'ended'),
-- The senders of coin that is collected for names.
payers as (
  select above_id as event_id, min(sender) as sender
  from above
  join payment_results using (event_id)
  where does = 'collects' and choice = 'AmuletRules_Transfer'
  group by above_id
)
select
  update_id, migration_id, record_time, sender as party, round, price, node_index as place,
  coalesce(app, 0) as minted_app,
  coalesce(app_or_validator, 0) as minted_app_or_validator,
  coalesce(validator, 0) as minted_validator,
  coalesce(validator_faucet, 0) as minted_validator_faucet,
  coalesce(sv, 0) as minted_sv,
  coalesce(unclaimed_activity, 0) as minted_unclaimed_activity,
  coalesce(development_fund, 0) as minted_development_fund,
  case cause when 'traffic' then coalesce(paid, 0) end as burned_traffic,
  case cause when 'preapprovals' then coalesce(paid, 0) end as burned_preapprovals,
  -- For a traffic purchase, the fees of outputs are included in the amount paid.
  coalesce(other_fees, 0)
    + case when cause = 'traffic' then 0 else coalesce(list_sum(output_fees), 0) end as burned_fees
from payments
union all by name
-- Taps and mints made the coin that their result names.
select
  made_coins.update_id, made_coins.migration_id, made_coins.record_time, owner as party, round,
  1000000 + node_index as place,
  case choice when 'AmuletRules_DevNet_Tap' then created.coin end as minted_tap,
  case choice when 'AmuletRules_Mint' then created.coin end as minted_other
from made_coins
join created on created.contract_id = made_coins.coin
union all by name
-- An expiry burns the whole coin; if the coin is unknown, so is the amount.
select
  coin_expiries.update_id, coin_expiries.migration_id, coin_expiries.record_time, owner as party, round,
  2000000 + node_index as place, ended.coin as burned_expiry, ended.coin is null as expiry_unknown
from coin_expiries
left join ended using (contract_id)
union all by name
-- A payment for a name collects a coin, which is burned in the same update; another subscription's coin stays.
select
  collections.update_id, collections.migration_id, collections.record_time, coalesce(sender, owner) as party,
  3000000 + node_index as place, created.coin as burned_names, created.coin is null as names_unknown
from collections
left join created on created.contract_id = collections.coin
left join payers using (event_id)
where event_id in (select event_id from above where does = 'pays a name')
union all by name
-- Token-standard choices on the coin with neither a summary nor a payment below them state their fees in metadata; the
-- outermost states them all.
select update_id, migration_id, record_time, sender as party, 4000000 + node_index as place, burned as burned_fees
from standard_steps
where burned is not null and choice in (select choice from choices where does = 'standard')
  and regexp_matches(template_name, '^Splice\.(Amulet|ExternalPartyAmulet)')
  and event_id not in (select event_id from above where does = 'standard')
  and event_id not in (
    select above_id
    from above
    where does = 'standard' and event_id in (select event_id from payment_results))
