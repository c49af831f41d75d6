-- One row: the number of reassignments with a leg that may lie before the range, and after it.
select
  count(*) filter (edge = 'start') as start,
  count(*) filter (edge = 'end') as "end"
from reassignment_flows
