-- An update of the verdicts, if none of theirs is one of the history at the same time, as of another network; else no row.
with
seen as (
  select update_id, record_time from events
  union all
  select update_id, record_time from reassignments
)
select min(update_id) as update_id
from verdicts
cross join (select min(record_time) as low, max(record_time) as high from seen) as span
where has_update and record_time between low and high
having count(*) > 0 and count(*) filter (update_id in (select update_id from seen)) = 0
