-- An update whose first event occurs more than once, as in parts of the history that overlap; no row if there is none.
select update_id
from events
where node_index = 0
group by update_id
having count(*) > 1
order by update_id
limit 1
