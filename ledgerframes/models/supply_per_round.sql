-- One row per round: what its updates minted and burned, and the supply after them.
-- An update that states no round counts for the last round that had opened by then.
with
sums as (
  select
    round,
    sum_of_all(minted) as minted,
    sum_of_all(burned) as burned,
    sum_of_all(net_change) as net_change,
    sum_of_all(unexplained) as unexplained
  from placed_flows
  where round is not null
  group by round
),
-- The coin that existed before; without it, and if the history is not known to begin at ledger begin, no total.
before as (select sum_of_all(case when wrong is null then amount end) as amount from coin_contracts where shown_by = 'opening')
select
  round,
  opened_at,
  amulet_price_usd,
  minted, burned, net_change, unexplained,
  case
    when begun()
      and count(*) over running = count(net_change) over running
    then (before.amount + sum(net_change) over running)::decimal(38, 10)
  end as total,
  -- Payments use a round while it is open.
  coalesce(opened_at is not null and summarizing_at is not null, false) and not may_have_gap() as whole
from sums
left join (select round, opened_at, summarizing_at, amulet_price_usd from round_history) as history using (round)
cross join before
window running as (order by round)
order by round
