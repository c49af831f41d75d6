-- One row per vote of a super validator on a request; one that changes its vote has another.
-- A vote is new in a state of the request that lists it otherwise than the state before.
with
listed as (
  select
    *,
    {'sv': sv, 'accept': accept, 'url': reason_url, 'body': reason_body, 'at': cast_at} as vote,
    lag(vote) over (partition by request, sv_name order by state) as before
  from listed_votes
  where wrong is null
),
new as (
  select *, row_number() over (partition by request, sv_name order by state) as number
  from listed
  where vote is distinct from before
),
-- A vote in the first state that is known was cast then only if the request was made then.
timed as (
  select
    *,
    case when shown_by = 'create' and (state > 1 or contract_id = request) then record_time end as recorded_at
  from new
)
select
  request, sv_name, number, sv, accept, reason_url, reason_body, cast_at, recorded_at as record_time,
  case
    when number > 1 then true
    when recorded_at is not null then false
  end as changed
from timed
order by migration_id nulls first, timed.record_time nulls first, update_id, node_index, request, sv_name
