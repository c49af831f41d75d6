-- One row per template, the same across upgrades of its package.
select
  template_key(package_name, template_name) as template_key, package_name, template_name,
  split_part(template_name, ':', 1) as module,
  nullif(substr(template_name, strpos(template_name, ':') + 1), case when contains(template_name, ':') then '' else template_name end)
    as entity,
  min(record_time) as first_seen_at
from events
where template_name is not null
group by package_name, template_name
order by template_name, package_name
