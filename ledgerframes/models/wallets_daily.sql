-- One row per day in UTC and provider of transfer preapprovals on which one of its parties has one, or something happened to
-- one: a contract by which a party receives coin from anybody. A renewal ends it and creates it again. A validator that
-- proposes to host an external party is the provider of the preapproval that comes of it.
with
last as (select max(record_time) as time from events),
begun as (
  select *
  from preapproval_contracts
  where wrong is null
  qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
),
ends as (
  select contract_id, record_time as ended_at, choice as ending
  from endings
  where template_name in ('Splice.AmuletRules:TransferPreapproval', 'Splice.AmuletRules:ExternalPartySetupProposal')
),
renewals as (select event_id from exercises where choice = 'TransferPreapproval_Renew'),
lives as (
  select begun.*, ended_at, ending, renewals.event_id is not null as renews
  from begun
  left join ends using (contract_id)
  left join renewals on renewals.event_id = begun.parent_event_id
),
proposed as (
  select contract_id, provider, party, min(record_time) filter (shown_by = 'create') as record_time
  from setup_proposals
  where wrong is null
  group by all
),
changes as (
  select record_time, provider, party, case when renews then 'renewed' else 'created' end as change
  from lives
  where shown_by = 'create'
  union all
  select
    ended_at as record_time, provider, party,
    case when ending = 'TransferPreapproval_Expire' then 'expired' else 'cancelled' end as change
  from lives
  where ending <> 'TransferPreapproval_Renew'
  union all
  select record_time, provider, party, 'proposed' as change
  from proposed
  where record_time is not null
  union all
  select ended_at as record_time, provider, party, ending as change
  from proposed
  join ends using (contract_id)
),
changed as (
  pivot (select utc_day(record_time) as date, provider, party, change from changes)
  on change in (
    'created', 'renewed', 'cancelled', 'expired', 'proposed' as setups_proposed,
    'ExternalPartySetupProposal_Accept' as setups_accepted, 'ExternalPartySetupProposal_Reject' as setups_rejected,
    'ExternalPartySetupProposal_Withdraw' as setups_withdrawn)
  using count(distinct party)
  group by date, provider
),
-- One whose time has run out is useless, though it stays until somebody ends it.
standing as (
  select date, provider, count(distinct party) as active
  from history_days
  join lives
    on date >= utc_day(coalesce(record_time, created_at)) and expires_at > moment
    and (ended_at is null or utc_day(ended_at) > date)
  group by all
)
select
  date::timestamp at time zone 'UTC' as time, provider,
  coalesce(columns(* exclude (date, provider, last.time)), 0),
  held_whole(date::timestamp at time zone 'UTC', last.time) as whole
from changed
full join standing using (date, provider)
cross join last
order by time, provider
