-- One row per template, the same across upgrades of its package.
select
  template_key(package_name, template_name) as template_key, package_name, template_name,
  split_part(template_name, ':', 1) as module,
  nullif(split_part(template_name, ':', 2), '') as entity,
  min(record_time) as first_seen_at
from events
where template_name is not null
group by package_name, template_name
order by template_name, package_name
