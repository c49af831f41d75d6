-- One row per coupon that was created or ended in the events, or is in the opening. A view: most sums state no coupon.
select valued_coupons.* replace (coalesce(valued_coupons.amount, stated_coupons.amount) as amount)
from valued_coupons
left join stated_coupons using (contract_id)
