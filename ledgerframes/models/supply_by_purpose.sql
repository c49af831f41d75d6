-- One row per time that is asked for: the coin that exists, unlocked and locked by what for, how much of it circulates, and what
-- may still be minted from the pools of unclaimed rewards and of the development fund. While there is a contract that cannot
-- be read, what it would count for is not known.
with
stocks as (
  select
    case when locked then 'locked_' || purpose else 'unlocked' end as kind, amount, recorded_at, ended_at
  from coin_history
  left join lock_purposes using (contract_id)
  union all
  select case when amount is null then 'unread_pool' else kind end, coalesce(amount, 1), recorded_at, ended_at
  from pool_contracts
  union all
  select case when locked then 'unread_locked' else 'unread_unlocked' end, 1, recorded_at, ended_at
  from unread_coin_contracts
  union all
  select 'development_fund_spent', minted_development_fund, record_time, null
  from mint_burn
  where minted_development_fund <> 0
),
placed as (
  select
    kind, amount,
    -- Locks that began before the events count from the first time on.
    case when recorded_at is null then 0 else started.place end as begins,
    ended.place as ends
  from stocks
  asof left join balance_times as started on stocks.recorded_at <= started.time
  asof left join balance_times as ended on stocks.ended_at <= ended.time
),
-- One that begins and ends between two times is held at none.
changes as (
  select kind, begins as place, amount from placed where begins < ends or ends is null
  union all
  select kind, ends, -amount from placed where begins < ends
),
sums as (
  pivot changes
  on kind in (
    'unlocked', 'locked_transfer', 'locked_allocation', 'locked_payment', 'locked_governance', 'locked_vesting', 'locked_other',
    'unclaimed_rewards', 'development_fund_unallocated', 'development_fund_allocated', 'development_fund_spent',
    'unread_unlocked', 'unread_locked', 'unread_pool')
  using sum(amount)
  group by place
),
held as (
  select
    time, round,
    coalesce(sum(columns(sums.* exclude (place))) over past, 0)::decimal(38, 10)
  from balance_times
  left join sums using (place)
  window past as (order by place)
),
read as (
  select
    time, round,
    case when unread_unlocked = 0 then unlocked end as unlocked,
    case when unread_locked = 0 then columns('^locked_') end,
    case when unread_pool = 0 then columns('^(unclaimed_rewards|development_fund_(un)?allocated)$') end,
    case when begun() then development_fund_spent end as development_fund_spent
  from held
),
amounts as (
  select
    *,
    (unlocked + locked_transfer + locked_allocation + locked_payment)::decimal(38, 10) as circulating,
    (unlocked + locked_transfer + locked_allocation + locked_payment + locked_governance + locked_vesting
      + locked_other)::decimal(38, 10) as total
  from read
)
select
  amounts.*, amulet_price_usd,
  coin(worth(columns(amounts.* exclude (time, round)), amulet_price_usd)) as '\0_usd'
from amounts
left join (select round, amulet_price_usd from round_history) as prices using (round)
order by time
