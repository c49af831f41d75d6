-- One row per interval, template and choice: creates, exercises and archives, and the parties in them.
-- Creates are in the row whose choice is null.
with
known as (
  select
    bucket(record_time) as time, template_name, choice,
    event_type = 'created_event' as created, coalesce(consuming, false) as ended,
    acting_parties, signatories, observers
  from events
  where template_name is not null and (event_type = 'created_event' or choice is not null)
),
counts as (
  select
    time, template_name, choice,
    count(*) filter (created) as creates,
    count(*) filter (not created) as exercises,
    count(*) filter (ended and not created) as archives
  from known
  group by all
),
-- Events of one template mostly name the same parties, so lists are compared before their parties are.
lists as (
  select distinct time, template_name, choice, acting_parties, signatories, observers from known
),
named as (
  select distinct time, template_name, choice, unnest(list_concat(acting_parties, signatories, observers)) as party
  from lists
),
parties as (select time, template_name, choice, count(*) as parties from named group by all)
select counts.time, counts.template_name, counts.choice, creates, exercises, archives, coalesce(parties, 0) as parties,
  held_whole(counts.time, last.time) as whole
from counts
cross join (select max(record_time) as time from events) as last
left join parties
  on parties.time = counts.time and parties.template_name = counts.template_name
  and parties.choice is not distinct from counts.choice
order by counts.time, counts.template_name, counts.choice nulls last
