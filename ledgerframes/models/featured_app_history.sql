-- One row per featured app right: a provider that is featured, with one weight.
with
rights as (
  select *
  from featured_rights
  where wrong is null
  qualify row_number() over (
    partition by contract_id
    order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1
),
ends as (
  select contract_id, record_time as until, choice, update_id as ended_in, node_index as ended_at
  from exercises
  where consuming and template_name = 'Splice.Amulet:FeaturedAppRight'
  qualify row_number() over (partition by contract_id order by migration_id, record_time, update_id, node_index) = 1
),
lives as (
  select
    contract_id, provider, shown_by, update_id, node_index, created_at as since, parent_event_id,
    -- A right that states none weighs 1.
    case when provider is not null then coalesce(activity_weight, 1::decimal(38, 10)) end as activity_weight,
    until, ends.choice as ending, ended_in, ended_at
  from rights
  full join ends using (contract_id)
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
),
last as (
  select max(record_time) as last
  from events
)
select
  contract_id, provider, activity_weight, since,
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
  day_of(coalesce(until, last)) - day_of(since) + 1 as active_days
from voted
left join parents on parents.event_id = voted.parent_event_id
asof left join vote_closes on vote_closes.update_id = voted.ended_in and vote_closes.node_index < voted.ended_at
cross join last
order by since nulls first, contract_id
