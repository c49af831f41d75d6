-- One row per fault: rows of the update history that contradict each other, named by their update.
select 'updates: the key update_id occurs more than once' as fault, update_id, migration_id, record_time
from updates
where update_id in (select update_id from updates group by update_id having count(*) > 1)
union all
select
  'events: the key update_id, event_id occurs more than once', update_id, min(migration_id), min(record_time)
from events
group by update_id, event_id
having count(*) > 1
union all
select 'reassignments: the key update_id occurs more than once', update_id, min(migration_id), min(record_time)
from reassignments
group by update_id
having count(*) > 1
union all
select 'events: their update is missing', update_id, min(migration_id), min(record_time)
from events
anti join (from updates where kind = 'transaction') using (update_id)
group by update_id
union all
select
  'updates: the number of events differs from the update''s event_count', update_id, migration_id, record_time
from updates
left join (select update_id, count(*) as stored from events group by update_id) using (update_id)
where kind = 'transaction' and event_count <> coalesce(stored, 0)
union all
select 'updates: the reassignment''s row is missing', update_id, migration_id, record_time
from updates
anti join reassignments using (update_id)
where kind <> 'transaction'
union all
select 'reassignments: their update is missing', update_id, migration_id, record_time
from reassignments
anti join (from updates where kind <> 'transaction') using (update_id)
