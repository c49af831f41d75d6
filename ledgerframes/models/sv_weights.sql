-- One row per super validator and weight that it had without interruption.
with
listed as (
  select
    *,
    lag(state) over by_party as before,
    lag(weight) over by_party as weight_before
  from governance_members
  where wrong is null
  window by_party as (partition by party order by state)
),
numbered as (
  select
    *,
    sum((before is null or before < state - 1 or weight is distinct from weight_before)::int)
      over (partition by party order by state) as spell
  from listed
),
spells as (
  select
    party, spell, min(weight) as weight, min(state) as first, max(state) as last,
    min_by(shown_by, state) as shown_by,
    max_by(name, state) as name, max_by(joined_round, state) as joined_round,
    max_by(participant_id, state) as participant_id
  from numbered
  group by party, spell
),
bounded as (
  select
    spells.*,
    lag(last) over (partition by party order by spell) = first - 1 as follows,
    lead(first) over (partition by party order by spell) = last + 1 as followed,
    -- The list of the first known contract may have been valid before, except for the ledger's first.
    first > 1 or (begun() and shown_by = 'create') as begins
  from spells
),
whole as (
  select
    bounded.*,
    began.record_time as since, began.update_id as begun_in, began.node_index as begun_at,
    ended.record_time as until, ended.update_id as ended_in, ended.node_index as ended_at
  from bounded
  left join governance_lists as began on began.state = first and begins
  left join governance_lists as ended on ended.state = last + 1
),
-- The recipients of its coupons meanwhile.
coupons as (
  select provider, coalesce(beneficiary, provider) as beneficiary, record_time
  from coupon_contracts
  where shown_by = 'create' and template_name = 'Splice.Amulet:SvRewardCoupon'
),
given as (
  select party, spell, list_sort(list(distinct beneficiary)) as beneficiaries
  from whole
  join coupons on provider = party
    and coupons.record_time >= coalesce(since, '-infinity') and coupons.record_time < coalesce(until, 'infinity')
  group by party, spell
),
voted as (
  select whole.*, vote_closes.request
  from whole
  asof left join vote_closes on vote_closes.update_id = whole.begun_in and vote_closes.node_index < whole.begun_at
)
select
  party as sv, name as sv_name, weight, joined_round, participant_id, beneficiaries, since,
  case
    when follows then 'weight changed'
    when begins then 'onboarded'
  end as began,
  voted.request, until,
  case
    when followed then 'weight changed'
    when until is not null then 'offboarded'
  end as ended,
  vote_closes.request as end_request
from voted
asof left join vote_closes on vote_closes.update_id = voted.ended_in and vote_closes.node_index < voted.ended_at
left join given using (party, spell)
order by first, sv
