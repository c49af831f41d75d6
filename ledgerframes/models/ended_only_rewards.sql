-- How many coupons ended whose create is not known, by template.
select template_name, count(*) as rows
from exercises
where consuming and template_name in (select template_name from coupon_kinds)
  and contract_id not in (select contract_id from coupon_contracts)
group by template_name
order by template_name
