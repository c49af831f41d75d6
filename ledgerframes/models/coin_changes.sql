-- One row per coin that an update creates or ends: its change to the owner's holdings. If an ended coin's create is not
-- known, its owner and amount are unknown, unless a payment consumed it: a row of the payment's summary, which states
-- the sum of all its coins, replaces all of these.
with
-- Of coins that began before, the terms alone.
known as (
  select contract_id, max(owner) as owner, max(amount) as amount from coin_contracts where wrong is null group by contract_id
),
ended as (
  select
    update_id, migration_id, record_time, contract_id, template_name = 'Splice.Amulet:LockedAmulet' as locked, owner,
    known.amount
  from exercises
  left join known using (contract_id)
  where consuming and template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
),
lost as (select contract_id, update_id from ended where amount is null),
input_coins as (
  select
    payments.event_id, payments.update_id, payments.migration_id, payments.record_time, payments.sender, coins,
    plain(value) as contract_id
  from payment_inputs
  join payments using (event_id)
  where tag = 'InputAmulet' and coins is not null and payments.update_id in (select update_id from lost)
),
settled as (
  select distinct event_id, update_id, migration_id, record_time, sender, coins
  from input_coins
  semi join lost using (contract_id)
),
settled_coins as (select distinct contract_id from input_coins semi join settled using (event_id))
select
  'created' as what, update_id, migration_id, record_time, contract_id, owner,
  template_name = 'Splice.Amulet:LockedAmulet' as locked, amount as coin, amount as change
from coin_contracts
where shown_by = 'create' and wrong is null
union all
select
  'ended', update_id, migration_id, record_time, contract_id, owner, locked, amount,
  case when settled_coins.contract_id is null then -amount else 0::decimal(38, 10) end
from ended
left join settled_coins using (contract_id)
union all
select 'settled', update_id, migration_id, record_time, null, sender, false, coins, -coins from settled
