-- Coupons at the edges of the range, by kind: those that began before it and ended in it, and those that are open at its
-- end; of how many the worth is not known, and of how many neither the events nor the opening have the create.
select
  case when outcome = 'open' then 'open_at_end' else 'began_before' end as edge,
  kind,
  count(*) as rows,
  coalesce(sum(amount), 0)::decimal(38, 10) as coin,
  count(*) - count(amount) as not_known,
  count(*) filter (not begun) as without_create
from coupon_lives
where outcome is not distinct from 'open' or created_in is null
group by all
order by edge, kind
