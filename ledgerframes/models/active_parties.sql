-- One row per interval: the parties that act in its events or are their stakeholders, and the new ones among them.
with
lists as (
  select distinct
    bucket(record_time) as time, template_name, acting_parties, signatories, observers
  from events
),
named as (
  select distinct
    time, template_name, unnest(list_concat(acting_parties, signatories, observers)) as party
  from lists
),
acting as (select distinct time, unnest(acting_parties) as party from lists),
firsts as (
  select party, min(time) as time
  from named
  where party not in (select unnest(coalesce(getvariable('seen')::varchar[], [])))
  group by party
),
by_template as (
  select time, template_name, count(*) as parties
  from named
  where template_name is not null
  group by all
)
select
  times.time,
  coalesce(parties, 0) as parties,
  coalesce(acting, 0) as acting,
  case when coalesce(getvariable('new_known')::boolean, true) then coalesce(new, 0) end as new,
  coalesce(templates, '{}') as by_template,
  held_whole(times.time, last.time) as whole
from (select distinct time from lists) as times
cross join (select max(record_time) as time from events) as last
left join (select time, count(distinct party) as parties from named group by time) as named_then
  on named_then.time = times.time
left join (select time, count(*) as acting from acting group by time) as acting_then on acting_then.time = times.time
left join (select time, count(*) as new from firsts group by time) as new_then on new_then.time = times.time
left join (
  select time, '{' || string_agg(to_json(template_name) || ':' || parties, ',' order by template_name) || '}' as templates
  from by_template
  group by time
) as by_name on by_name.time = times.time
order by times.time
