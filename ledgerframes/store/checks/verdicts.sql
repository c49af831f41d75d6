-- One row per fault: rows of verdicts, their views and their app activity that contradict each other.
with named as (  -- the views that a verdict has as roots, or another view inside it
  select update_id, unnest(ids) as view_id
  from (
    select update_id, json_extract(root_views, '$[*]') as ids from verdicts where json_valid(root_views)
    union all
    select update_id, json_extract(sub_views, '$[*]') from views where json_valid(sub_views)
  )
  -- Other text names none.
  where len(list_filter(ids, lambda id: json_type(id) not in ('BIGINT', 'UBIGINT'))) = 0
)
select 'verdicts: the key update_id occurs more than once' as fault, update_id, migration_id, record_time
from verdicts
where update_id in (select update_id from verdicts group by update_id having count(*) > 1)
union all
select 'views: the key update_id, view_id occurs more than once', update_id, min(migration_id), min(record_time)
from views
group by update_id, view_id
having count(*) > 1
union all
select 'app_activity: the key update_id, party occurs more than once', update_id, min(migration_id), min(record_time)
from app_activity
group by update_id, party
having count(*) > 1
union all
select 'views: their verdict is missing', update_id, migration_id, record_time
from views
anti join verdicts using (update_id)
union all
select 'app_activity: their verdict is missing', update_id, migration_id, record_time
from app_activity
anti join verdicts using (update_id)
union all
select 'views: a view that its verdict or another view names is missing', update_id, migration_id, record_time
from verdicts
where update_id in (
  select update_id from named
  anti join (select update_id, cast(view_id as varchar) as view_id from views) as stored
    on named.update_id = stored.update_id and cast(named.view_id as varchar) = stored.view_id
)
