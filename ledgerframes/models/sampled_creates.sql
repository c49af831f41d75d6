-- One row per create of a template, of the first few of each.
select template_name, payload
from creates
where shown_by = 'create' and template_name is not null
qualify row_number() over (
  partition by template_name
  order by migration_id, record_time, update_id, node_index, event_id) <= coalesce(getvariable('sample')::bigint, 1000)
