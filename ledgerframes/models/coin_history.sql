-- One row per coin contract: its terms, what created it, and what ended it.
-- Holding fees are notional: a coin can be expired from the round in which they reach its amount.
with
coins as (
  select *
  from coin_contracts
  where wrong is null
  qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
),
ends as (
  select contract_id, record_time as ended_at, choice, parent_event_id as ended_below
  from endings
  where template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
),
parents as (
  select event_id, choice
  from exercises
  where event_id in (select parent_event_id from coins) or event_id in (select ended_below from ends)
)
select
  contract_id,
  owner,
  amount,
  created_round,
  rate_per_round,
  template_name = 'Splice.Amulet:LockedAmulet' as locked,
  lock_holders,
  lock_expires_at,
  case
    when rate_per_round > 0
    then try_cast(
      created_round + units(amount) // units(rate_per_round)
      + (units(amount) % units(rate_per_round) > 0)::int as bigint)
  end as expires_at_round,
  created_at,
  record_time as recorded_at,
  creating.choice as created_by,
  ended_at,
  case when ends.choice = 'Archive' then coalesce(ending.choice, 'Archive') else ends.choice end as ended_by
from coins
left join ends using (contract_id)
left join parents as creating on creating.event_id = coins.parent_event_id
left join parents as ending on ending.event_id = ends.ended_below
order by created_round, contract_id
