-- One row per leg of a step of the token standard, version 1: sender, receiver, amount, and the result of the step.
-- Metadata is merged in the order transfer, extra arguments, argument, result: the last to state a key counts.
with
received as (
  select event_id, sum_of_all(coins.amount) as amount, arg_min(coins.owner, place) as owner
  from (
    select event_id, unnest(texts(receivers)) as contract_id, unnest(range(len(texts(receivers)))) as place
    from standard_steps)
  join (from received_coins where wrong is null) as coins using (contract_id)
  group by event_id
),
merged as (
  select
    steps.* exclude (sender, receiver, amount, admin, instrument, tx_kind, reason, said_sender, wrong),
    -- The amount that an instruction or an allocation moves is in its contract.
    coalesce(steps.sender, legs.sender) as sender,
    coalesce(steps.receiver, legs.receiver) as receiver,
    coalesce(steps.amount, legs.amount) as amount,
    coalesce(steps.admin, legs.admin) as admin,
    coalesce(steps.instrument, legs.instrument) as instrument,
    plain(coalesce(result_tx_kind, steps.tx_kind, legs.tx_kind)) as tx_kind,
    plain(coalesce(result_reason, steps.reason, legs.reason)) as reason,
    plain(coalesce(result_said_sender, steps.said_sender, legs.said_sender)) as said_sender,
    lower(coalesce(regexp_extract(tag, '([^_]*)$', 1), '')) as tag_word
  from standard_steps as steps
  left join step_legs as legs using (contract_id)
  where steps.choice not like 'TransferPreapproval_%' and steps.wrong is null
),
steps as (
  select
    *,
    case
      when choice = 'Allocation_ExecuteTransfer' then 'completed'
      when choice in ('Allocation_Cancel', 'Allocation_Withdraw') then 'failed'
      when choice = 'AllocationFactory_Allocate' and tag_word in ('', 'completed') then 'allocated'
      when tag_word <> '' then tag_word
      when choice in ('TransferInstruction_Reject', 'TransferInstruction_Withdraw') then 'failed'
      else 'completed'
    end as step
  from merged
),
legs as (
  select
    steps.* exclude (receiver, amount),
    0::bigint as leg, 'transfer' as what,
    coalesce(receiver, received.owner) as receiver, coalesce(steps.amount, received.amount) as amount
  from steps
  left join received using (event_id)
  where choice <> 'BurnMintFactory_BurnMint'
  union all by name
  select
    steps.* exclude (sender, receiver, amount, step),
    place as leg, 'mint' as what, minted_outputs.owner as receiver, minted_outputs.amount, 'completed' as step
  from steps
  join minted_outputs using (event_id)
  where minted_outputs.wrong is null and steps.choice = 'BurnMintFactory_BurnMint'
  union all by name
  -- Burned amounts are in the views of the holdings, which the argument does not contain.
  select
    steps.* exclude (sender, receiver, amount, step),
    coalesce(json_array_length(outputs), 0)::bigint as leg, 'burn' as what, 'completed' as step
  from steps
  where choice = 'BurnMintFactory_BurnMint' and coalesce(json_array_length(inputs), 0) > 0
)
select
  migration_id, record_time, update_id, node_index, event_id, template_name, choice, interface_id,
  leg, what, step, sender, said_sender, receiver, amount, admin, instrument, expected_admin, tx_kind, reason
from legs
