-- The number of ended coupons whose create is unknown, by template.
select template_name, kinds.kind, count(*) as rows
from exercises
join coupon_kinds as kinds using (template_name)
where consuming and contract_id not in (select contract_id from coupon_contracts)
group by template_name, kinds.kind
order by template_name
