-- One row per contract of a pool that may still be minted: its amount, null if it cannot be read, and when it was created
-- and ended.
with
shares as (
  select *
  from pool_shares
  qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
),
ends as (
  select contract_id, min(record_time) as ended_at
  from exercises
  where consuming and template_name in (select template_name from pool_shares)
  group by contract_id
)
select
  contract_id, amount, record_time as recorded_at, ended_at,
  case
    when template_name like '%:UnclaimedReward' then 'unclaimed_rewards'
    when template_name like '%:DevelopmentFundCoupon' then 'development_fund_allocated'
    else 'development_fund_unallocated'
  end as kind
from shares
left join ends using (contract_id)
