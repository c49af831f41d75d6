-- The number of ended coins whose create is unknown, by template.
select template_name, count(*) as rows
from exercises
where consuming and template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
  and contract_id not in (select contract_id from coin_contracts)
group by template_name
order by template_name
