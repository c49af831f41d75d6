-- Coupons whose terms are known, each once: an assignment or an opening may show one again.
select * replace (
  case kind when 'unclaimed_activity' then beneficiary else provider end as provider,
  coalesce(kind, reward_kind(stated_kind)) as kind)
from coupon_contracts
join coupon_kinds using (template_name)
where wrong is null
  and case kind when 'unclaimed_activity' then beneficiary else provider end is not null
  and (weight is not null or kind = 'validator_faucet')
  and (round is not null or in_coin)
qualify row_number() over (
  partition by contract_id
  order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1
