-- One row per request for a vote of the super validators.
select
  key_of(request) as vote_key, date_number(utc_day(opened_at)) as date_key, utc_day(opened_at) as date,
  date_number(utc_day(completed_at)) as ended_date_key, utc_day(completed_at) as ended_date, key_of(party) as party_key,
  request, requester, action, weight, amount, reason_url, reason_body, opened_at, vote_before, target_effective_at, outcome,
  completed_at, effective_at, failure, accepting, rejecting, abstaining
from votes
order by opened_at nulls first, request
