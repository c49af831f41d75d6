-- One row: the number of reassignments with a leg that may lie before the range, and after it; and of the latter those
-- in flight, as who has arrived without having left is not.
select
  count(*) filter (edge = 'start') as start,
  count(*) filter (edge = 'end') as "end",
  count(*) filter (edge = 'end' and status = 'in flight') as in_flight
from reassignment_flows
