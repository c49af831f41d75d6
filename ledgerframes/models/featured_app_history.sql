-- One row per featured app right: a provider that is featured, with one weight.
with
rights as (
  select *
  from featured_rights
  where wrong is null
  qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
),
ends as (
  select contract_id, record_time as until, choice, update_id as ended_in, node_index as ended_at
  from endings
  where template_name = 'Splice.Amulet:FeaturedAppRight'
),
lives as (
  select
    contract_id, provider, shown_by, update_id, node_index, created_at as since, parent_event_id,
    -- What was claimed before the events is not known.
    case when shown_by <> 'opening' then created_at end as counted_since,
    -- A right that states none weighs 1.
    case when provider is not null then coalesce(activity_weight, 1::decimal(38, 10)) end as activity_weight,
    until, ends.choice as ending, ended_in, ended_at
  from rights
  full join ends using (contract_id)
),
claims as (
  select provider, created_at, amount, amount_usd
  from rewards
  where kind = 'app' and outcome = 'claimed' and created_at is not null
),
-- The amounts claimed of the coupons of all applications up to each time.
running as (
  select
    created_at, sum(coalesce(sum(amount), 0)) over (order by created_at) as claimed,
    sum(count(*) - count(amount)) over (order by created_at) as unknown
  from claims
  group by created_at
),
own as (
  select
    contract_id, sum_of_all(amount) as earned, sum_of_all(amount_usd) as earned_usd
  from lives
  join claims
    on claims.provider = lives.provider and created_at >= counted_since and created_at < coalesce(until, 'infinity')
  group by contract_id
),
stretches as (
  select
    contract_id, earned_until.claimed - coalesce(earned_since.claimed, 0) as of_all,
    earned_until.unknown - coalesce(earned_since.unknown, 0) as unknown
  from (
    select contract_id, counted_since, coalesce(until, 'infinity') as until from lives where counted_since is not null)
  asof left join running as earned_since on earned_since.created_at < counted_since
  asof left join running as earned_until on earned_until.created_at < until
),
parents as (
  select event_id, choice as beginning
  from exercises
  where event_id in (select parent_event_id from rights)
),
voted as (
  select lives.*, vote_closes.request
  from lives
  asof left join vote_closes on vote_closes.update_id = lives.update_id and vote_closes.node_index < lives.node_index
)
select
  voted.contract_id, provider, activity_weight, since,
  case
    when beginning = 'FeaturedAppRight_Update' then 'weight changed'
    when shown_by = 'create' then 'granted'
  end as began,
  voted.request, until,
  case ending
    when 'FeaturedAppRight_Update' then 'weight changed'
    when 'FeaturedAppRight_Withdraw' then 'withdrawn'
    when 'FeaturedAppRight_Cancel' then 'cancelled'
  end as ended,
  vote_closes.request as end_request,
  day_of(coalesce(until, last)) - day_of(since) + 1 as active_days,
  case when own.contract_id is not null or counted_since is null then earned else 0 end::decimal(38, 10) as earned,
  case when own.contract_id is not null or counted_since is null then earned_usd else 0 end::decimal(38, 10) as earned_usd,
  case when of_all > 0 and unknown = 0
    then (divided(units(coalesce(earned, 0::decimal(38, 10))) * 10000000000, units(of_all::decimal(38, 10)))
      / 10000000000::decimal(38, 10)) end::decimal(38, 10) as share
from voted
left join parents on parents.event_id = voted.parent_event_id
asof left join vote_closes on vote_closes.update_id = voted.ended_in and vote_closes.node_index < voted.ended_at
cross join (select max(record_time) as last from events)
left join own on own.contract_id = voted.contract_id
left join stretches on stretches.contract_id = voted.contract_id
order by since nulls first, voted.contract_id
