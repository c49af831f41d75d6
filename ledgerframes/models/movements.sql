-- One row per entry in a party's account of coin: what an update added or removed, and why. A payment's inputs
-- and change are one entry. Mints and burns are those of `mint_burn`; a lock or unlock changes only what is locked,
-- a merge nothing. If coin changed for no stated reason, the entry is unknown; so is an ended coin whose create is not
-- known, whose owner nobody states.
with
-- A coin that only an assignment shows was created elsewhere, or, if earlier events are missing, in those: then whether
-- its owner received it is not known.
assigned as (
  select
    update_id, migration_id, record_time, owner, template_name = 'Splice.Amulet:LockedAmulet' as locked,
    case when begun() then amount end as change
  from coin_contracts
  where wrong is null
  qualify row_number() over (
    partition by contract_id order by shown_by = 'assignment', migration_id, record_time, node_index) = 1
    and shown_by = 'assignment'
),
changes as (
  select update_id, migration_id, record_time, owner, locked, change from coin_changes
  union all
  select * from assigned where change is not null
),
moved as (select * from coin_outputs where sender is distinct from receiver and not burned),
-- The sender of a payment does not pay the part of the fees that the receiver pays.
shared as (select * from coin_outputs where sender <> receiver and not burned and receiver_fees <> 0),
stated as (
  select
    update_id, migration_id, record_time, place, 0 as output_index, party, kind, null as counterparty, round, price,
    case when kind like 'minted%' then amount else -amount end as amount
  from (unpivot coin_entries on columns('^(minted|burned)_.*') into name kind value amount)
  where amount <> 0
  union all by name
  select
    update_id, migration_id, record_time, node_index as place, output_index, round, price, reason,
    unnest([
      {'party': sender, 'kind': 'transfer_out', 'counterparty': receiver, 'amount': -amount},
      {'party': receiver, 'kind': 'transfer_in', 'counterparty': sender, 'amount': amount}
    ], recursive := true)
  from moved
  union all by name
  select
    update_id, migration_id, record_time, node_index as place, round, price, 'burned_fees' as kind,
    unnest([
      {'party': sender, 'output_index': 0, 'amount': receiver_fees},
      {'party': receiver, 'output_index': output_index, 'amount': -receiver_fees}
    ], recursive := true)
  from shared
  union all by name
  select update_id, migration_id, record_time, -1 as place, 0 as output_index, owner as party, 'assigned' as kind, change
    as amount
  from assigned
),
told as (
  select
    update_id, min(migration_id) as migration_id, min(record_time) as record_time, place, output_index, party, kind,
    counterparty, max(round) as round, max(price) as price, max(reason) as reason, sum_of_all(amount) as amount,
    0::decimal(38, 10) as locked_change
  from stated
  group by update_id, place, output_index, party, kind, counterparty
),
unclear as (
  select update_id, min(migration_id) as migration_id, min(record_time) as record_time
  from changes
  where change is null
  group by update_id
),
sums as (
  select
    update_id, owner as party, min(migration_id) as migration_id, min(record_time) as record_time, sum(change) as change,
    coalesce(sum(change) filter (locked), 0)::decimal(38, 10) as locked_change, 0::decimal(38, 10) as told, 0 as entries
  from changes
  where owner is not null
  group by update_id, owner
  union all
  select
    update_id, party, min(migration_id), min(record_time), 0, 0, coalesce(sum(amount), 0)::decimal(38, 10), count(*)
  from told
  where party is not null
  group by update_id, party
),
compared as (
  select
    update_id, party, min(migration_id) as migration_id, min(record_time) as record_time,
    (sum(change) - sum(told))::decimal(38, 10) as rest, sum(locked_change)::decimal(38, 10) as locked_change,
    sum(entries) as entries
  from sums
  group by update_id, party
),
every as (
  select * from told where amount <> 0 or amount is null
  union all by name
  select
    update_id, migration_id, record_time, party, case when locked_change > 0 then 'lock' else 'unlock' end as kind,
    0::decimal(38, 10) as amount, locked_change
  from compared
  where locked_change <> 0
  union all by name
  select
    update_id, migration_id, record_time, party, 'merge' as kind, 0::decimal(38, 10) as amount,
    0::decimal(38, 10) as locked_change
  from compared
  where entries = 0 and rest = 0 and locked_change = 0
  union all by name
  -- If nothing is known of an ended coin, the unexplained rest may be that coin.
  select
    update_id, migration_id, record_time, party, 'unknown' as kind, rest as amount, 0::decimal(38, 10) as locked_change
  from compared
  where rest <> 0 and update_id not in (select update_id from unclear)
  union all by name
  select update_id, migration_id, record_time, 'unknown' as kind from unclear
),
-- The coin that existed before; if the history is not known to begin at ledger begin, no balance.
before as (
  select owner as party, sum(amount) as coin
  from coin_contracts
  where shown_by = 'opening' and wrong is null
  group by owner
),
numbered as (
  select
    *,
    row_number() over (
      partition by update_id order by place nulls last, output_index, kind, party, counterparty) - 1 as entry
  from every
)
select
  update_id, entry, record_time, numbered.party, kind, counterparty, numbered.round, amount,
  coin(worth(amount, coalesce(price, amulet_price_usd))) as amount_usd,
  locked_change,
  case when begun() and numbered.party is not null then
    (coalesce(before.coin, 0) + sum(amount) over (
      partition by numbered.party order by migration_id, record_time, update_id, entry))::decimal(38, 10)
  end as balance_after,
  reason
from numbered
left join before on before.party = numbered.party
left join round_history on round_history.round = numbered.round
where getvariable('parties') is null or list_contains(getvariable('parties')::varchar[], numbered.party)
order by migration_id, record_time, update_id, entry
