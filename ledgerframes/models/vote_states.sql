-- One row per state of a vote request: as it was made, as each vote left it, and as it was closed, numbered in this order.
-- Every vote ends the request's contract and creates it again with the id of the first one, by which it is known.
with
every as (
  select coalesce(tracking, contract_id) as request, *
  from vote_requests
  where wrong is null
  union all by name
  select 'close' as shown_by, coalesce(tracking, closed_contract) as request, *
  from vote_results
  where wrong is null
)
select
  *,
  row_number() over in_order as state,
  lead(request) over in_order is null as latest
from every
window in_order as (
  partition by request
  order by migration_id nulls first, record_time nulls first, update_id, node_index)
