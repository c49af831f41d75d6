-- One row per request for a vote of the super validators, as the history shows it last.
with
requests as (
  select *
  from vote_states
  where latest
),
-- Votes of those that were offboarded meanwhile do not count.
counts as (
  select
    requests.request,
    count(*) filter (accept) as accepting,
    count(*) filter (not accept) as rejecting
  from listed_votes
  join requests using (request, state)
  where listed_votes.wrong is null and not coalesce(list_contains(offboarded, sv_name), false)
  group by requests.request
),
-- A close ends a vote even if its result cannot be read.
closed as (
  select closed_contract
  from vote_results
  where wrong is not null and closed_contract is not null
),
opened as (
  select contract_id as request, min(created_at) as opened_at
  from vote_requests
  where tracking is null
  group by contract_id
),
rights as (
  select contract_id as right_id, min(provider) as provider
  from featured_rights
  where wrong is null
  group by contract_id
)
select
  request, requester, action, coalesce(party, provider) as party, right_id, weight, amount, arguments,
  reason_url, reason_body,
  list_sort(list_distinct(list_transform(
    regexp_extract_all(concat_ws(' ', reason_url, reason_body), '(?i)\bcip[-_ ]?(\d{1,4})\b', 1),
    lambda number: 'CIP-' || lpad(number, 4, '0')))) as cips,
  opened_at, vote_before, target_effective_at,
  case
    when shown_by <> 'close' and contract_id not in (select closed_contract from closed) then 'open'
    when ending = 'VRO_Accepted' then 'accepted'
    when ending = 'VRO_Rejected' then 'rejected'
    when ending = 'VRO_Expired' then 'expired'
    when ending = 'VRO_AcceptedButActionFailed' then 'accepted_but_failed'
  end as outcome,
  completed_at, effective_at, failure,
  coalesce(accepting, 0) as accepting, coalesce(rejecting, 0) as rejecting, len(abstaining) as abstaining
from requests
left join counts using (request)
left join opened using (request)
left join rights using (right_id)
order by opened_at nulls first, request
