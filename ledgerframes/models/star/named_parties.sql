-- One row per party that a fact or a license names, and when an update or a verdict first named it.
with
seen as (
  select unnest(list_distinct(list_concat(acting_parties, signatories, observers))) as party_id, record_time from events
  union all select unnest(submitting_parties), record_time from verdicts
  union all select owner, recorded_at from coin_history
  union all select unnest([sender, receiver, provider]), null from transfers
  union all select unnest([sender, receiver]), null from token_transfers
  union all select unnest([provider, beneficiary]), null from rewards
  union all select party, null from reward_flows
  union all select provider, null from traffic_purchases
  union all select unnest([party, counterparty]), null from movements
  union all select party, null from votes
  union all select unnest([validator, sponsor]), null from validator_licenses
)
select party_id, min(record_time) as first_seen_at
from seen
where party_id is not null
group by party_id
