-- One row per event, party and role of the party in the event; a party that a list names twice has one row.
with
named as (
  select update_id, event_id, unnest(list_distinct(acting_parties)) as party, 'acting' as role from events
  union all
  select update_id, event_id, unnest(list_distinct(signatories)), 'signatory' from events
  union all
  select update_id, event_id, unnest(list_distinct(observers)), 'observer' from events
)
select key_of(json_array(update_id, event_id)::varchar) as event_key, key_of(party) as party_key, role
from named
where party is not null
order by event_key, party_key, role
