-- A synchronizer of the verdicts, if the events are of none of theirs, as those of another network; else no row.
select min(synchronizer_id) as synchronizer_id
from verdicts
having count(*) filter (synchronizer_id in (select synchronizer_id from events)) = 0
  and count(*) > 0 and (select count(*) from events) > 0
