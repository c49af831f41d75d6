-- One row per output of a coin transfer, and whether it was burned. A transfer counts wherever it lies; a choice that
-- wraps it is not counted again, and gives the kind and the reason. Newer choices move coin without one; then they count themselves.
with
wrappers as (
  select event_id, nullif(tx_kind, '') as tx_kind, nullif(reason, '') as reason
  from token_steps
  where leg = 0 and regexp_matches(template_name, '^Splice\.(Amulet|ExternalPartyAmulet)')
  union all by name
  select
    event_id, plain(coalesce(result_tx_kind, tx_kind)) as tx_kind,
    coalesce(plain(result_reason), nullif(description, '')) as reason
  from standard_steps
  where choice in ('TransferPreapproval_Send', 'TransferPreapproval_SendV2')
),
nearest as (
  select above.event_id, arg_max(above_id, above_index) as wrapper
  from above
  join standard_steps on standard_steps.event_id = above_id
  group by above.event_id
),
-- Events with a transfer, or another step, below them.
covered as (
  select above_id as event_id
  from above
  where event_id in (select event_id from transfer_requests) or event_id in (select event_id from standard_steps)
),
burning as (
  select above.event_id
  from above
  join payment_results on payment_results.event_id = above_id
  join choices using (choice)
  where cause is not null
  union all
  select event_id from above where does = 'pays a name'
),
outputs as (
  select
    outputs.migration_id, outputs.record_time, outputs.update_id, outputs.node_index, outputs.event_id,
    outputs.place as output_index, results.round, requests.sender, requests.provider, receiver, outputs.amount,
    receiver_fee_ratio, lock, price,
    coin(worth(output_fees[place + 1], 1::decimal(38, 10) - coalesce(receiver_fee_ratio, 0)))
      + case when place = 0 then holding_fees + change_fee else 0 end as sender_fees,
    output_fees[place + 1]
      - coin(worth(output_fees[place + 1], 1::decimal(38, 10) - coalesce(receiver_fee_ratio, 0))) as receiver_fees,
    coalesce(plain(requests.tx_kind), wrappers.tx_kind) as said_kind,
    coalesce(plain(requests.reason), wrappers.reason) as reason,
    outputs.event_id in (from burning) as burned
  from transfer_outputs as outputs
  join transfer_requests as requests using (event_id)
  join payment_results as results using (event_id)
  left join payment_summaries as summaries using (event_id)
  left join nearest using (event_id)
  left join wrappers on wrappers.event_id = nearest.wrapper
  where outputs.wrong is null and requests.sender is not null
),
sends as (
  select
    steps.migration_id, steps.record_time, steps.update_id, steps.node_index, steps.event_id, 0 as output_index,
    results.round, steps.sender, legs.provider, legs.receiver, steps.amount, price,
    holding_fees + change_fee + list_sum(output_fees) as sender_fees,
    wrappers.tx_kind as said_kind, wrappers.reason, false as burned
  from standard_steps as steps
  join payment_results as results using (event_id)
  left join payment_summaries as summaries using (event_id)
  left join step_legs as legs using (contract_id)
  left join wrappers using (event_id)
  where steps.choice in ('TransferPreapproval_Send', 'TransferPreapproval_SendV2')
    and regexp_matches(steps.template_name, '^Splice\.(Amulet|ExternalPartyAmulet)')
    and steps.sender is not null and steps.wrong is null
),
-- A pending instruction and an allocation move coin into a lock of the sender.
steps as (
  select
    migration_id, record_time, update_id, node_index, event_id, 0 as output_index,
    case when step = 'completed' then coalesce(sender, nullif(said_sender, '')) else sender end as sender,
    case when step = 'completed' then receiver else sender end as receiver,
    amount, nullif(tx_kind, '') as said_kind, nullif(reason, '') as reason, false as burned
  from token_steps
  where regexp_matches(template_name, '^Splice\.(Amulet|ExternalPartyAmulet)')
    and (step = 'completed' or (step in ('pending', 'allocated') and sender is not null))
)
select * from outputs
  union all by name
  select * from sends where event_id not in (from covered)
  union all by name
  select * from steps where event_id not in (from covered)
