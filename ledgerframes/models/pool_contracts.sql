-- One row per contract of a pool that may still be minted: its amount, and when it was created and ended.
with
shares as (
  select *
  from pool_shares
  where wrong is null
  -- Contracts of the opening began before the events; a create in both is one contract.
  qualify row_number() over (
    partition by contract_id
    order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1
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
