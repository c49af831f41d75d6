-- One row per leg of a transfer, mint or burn of any instrument that follows the token standard.
-- Version 2 reports each leg by both of its sides, which are one row; a step of version 1 that reports is not counted
-- again.
with
told as (
  select arg_max(above_id, above_index) as event_id
  from above
  where does = 'standard' and event_id in (select event_id from holdings_changes)
  group by above.event_id
),
first_version as (
  select
    migration_id, record_time, update_id, node_index, event_id, leg,
    case when admin is null or instrument is null then expected_admin else admin end as instrument_admin,
    case when admin is not null then instrument end as instrument_id,
    coalesce(sender, case when coalesce(nullif(tx_kind, ''), what) <> 'mint' then nullif(said_sender, '') end) as sender,
    receiver, amount, coalesce(nullif(tx_kind, ''), what) as kind, step, nullif(reason, '') as reason
  from token_steps
  where regexp_matches(interface_id, '(^|:)Splice\.Api\.Token\.')
    and event_id not in (from told)
),
sides as (
  select
    *,
    side = 'SenderSide' as sends,
    plain(coalesce(own_tx_kind, tx_kind)) as said_kind,
    plain(coalesce(own_reason, reason)) as said_reason
  from leg_sides
  where wrong is null
  qualify row_number() over (
    partition by update_id, admin, leg_id
    order by side <> 'SenderSide', migration_id, record_time, node_index, place) = 1
),
second_version as (
  select
    migration_id, record_time, update_id, node_index, event_id, place as leg, admin as instrument_admin,
    instrument as instrument_id,
    case when sends then owner else other end as sender,
    case when sends then other else owner end as receiver,
    amount, said_kind, 'transfer' as otherwise, said_reason as reason
  from sides
  union all by name
  -- Without legs holdings were merged or split.
  select
    migration_id, record_time, update_id, node_index, event_id, 0::bigint as leg, admin as instrument_admin,
    owner as sender, owner as receiver, plain(tx_kind) as said_kind, 'merge-split' as otherwise, plain(reason) as reason
  from holdings_changes
  where admin is not null and coalesce(json_array_length(sides), 0) = 0
)
select
  update_id, event_id, leg, instrument_admin, instrument_id, sender, receiver, amount, kind, step, reason,
  migration_id, record_time, node_index
from first_version
union all by name
select
  * exclude (said_kind, otherwise),
  case
    when said_kind <> '' then said_kind
    when sender is null and receiver is not null then 'mint'
    when receiver is null and sender is not null then 'burn'
    else otherwise
  end as kind,
  'reported' as step
from second_version
order by record_time, update_id, length(event_id), event_id, leg
