-- Coupons at the edges of the range, by kind: those that began before it and ended in it, and those that are open at its
-- end; for how many the value is unknown, and for how many neither the events nor the opening have the create.
with
-- Also those whose terms cannot be read.
shown as (
  select contract_id, bool_or(shown_by = 'create') as created
  from coupon_contracts
  group by contract_id
)
select
  case when outcome = 'open' then 'open_at_end' else 'began_before' end as edge,
  kind,
  count(*) as rows,
  coalesce(sum(amount), 0)::decimal(38, 10) as coin,
  count(*) - count(amount) as not_known,
  count(*) filter (shown.contract_id is null) as without_create
from coupon_lives
left join shown using (contract_id)
where outcome is not distinct from 'open' or (created_in is null and not coalesce(created, false))
group by all
order by edge, kind
