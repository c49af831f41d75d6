-- The number of updates that count for no round.
select count(*) filter (round is null) as updates
from placed_flows
