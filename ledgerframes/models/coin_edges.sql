-- Coins at the edges of the range: those that began before it and ended in it, and those that exist at its end; for how
-- many the amount is unknown, and for how many neither the events nor the opening have the create.
with
known as (
  select contract_id, bool_or(shown_by = 'create') as begun, max(amount) filter (wrong is null) as amount
  from coin_contracts
  group by contract_id
),
ended as (
  select distinct contract_id
  from exercises
  where consuming and template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
)
select
  case when ended.contract_id is null then 'open_at_end' else 'began_before' end as edge,
  null::varchar as kind,
  count(*) as rows,
  -- Amounts with more than 18 digits before the point are unknown, as elsewhere: their sum would not fit.
  coalesce(sum(amount) filter (abs(amount) < 1000000000000000000), 0)::decimal(38, 10) as coin,
  count(*) - count(amount) filter (abs(amount) < 1000000000000000000) as not_known,
  count(*) filter (known.contract_id is null) as without_create
from known
full join ended using (contract_id)
where ended.contract_id is null or not coalesce(begun, false)
group by all
order by edge
