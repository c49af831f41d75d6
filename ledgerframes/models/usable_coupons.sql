-- Coupons whose terms are known, each once: an assignment or an opening may show one again.
with
usable as not materialized (
  select
    contract_id, shown_by, coalesce(kind, reward_kind(stated_kind)) as kind, in_coin, round,
    case kind when 'unclaimed_activity' then beneficiary else provider end as provider,
    beneficiary, weight, featured, created_at, mint_after, expires_at,
    migration_id, record_time, update_id, node_index
  from coupon_contracts
  join coupon_kinds using (template_name)
  where wrong is null and (weight is not null or kind = 'validator_faucet') and (round is not null or in_coin)
),
repeated as (select contract_id from usable group by contract_id having count(*) > 1)
select * from usable anti join repeated using (contract_id) where provider is not null
union all
-- Most are there once, and are not sorted.
select * from usable semi join repeated using (contract_id) where provider is not null
qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
