-- One row per template, most frequent first: how often it was created and exercised, and by which choices.
with
choices as (
  select template_name, choice, count(*) as exercises
  from events
  where template_name is not null and choice is not null
  group by all
),
named as (
  select
    template_name,
    '{' || string_agg(to_json(choice) || ':' || exercises, ',' order by exercises desc, choice) || '}' as choices
  from choices
  group by template_name
)
select
  template_name,
  list_sort(coalesce(list(distinct package_name) filter (package_name is not null), [])) as package_names,
  count(*) filter (event_type = 'created_event') as creates,
  count(choice) as exercises,
  count(*) filter (consuming) as consuming,
  coalesce(min(choices), '{}') as choices,
  min(record_time) as first_record_time,
  max(record_time) as last_record_time
from events
left join named using (template_name)
where template_name is not null
group by template_name
order by creates desc, exercises desc, template_name
