-- One row per locked coin: the purpose of its lock, by the contract that names it, else by the lock's own text.
with
-- An instruction, an allocation or a governance lock is made together with its coin; an allocation can be a governance lock.
named as (
  select
    locked_coin as contract_id,
    min(
      case
        when lock_type = 'aggregateLock' then 'governance'
        when lock_type = 'vestingLock' then 'vesting'
        when template_name like '%:AmuletTransferInstruction' then 'transfer'
        when template_name like '%:GovernanceLock' then 'governance'
        when template_name like '%:VestingLock' then 'vesting'
        else 'allocation'
      end) as purpose
  from lock_users
  where locked_coin is not null
  group by locked_coin
),
-- Of a coin that no such contract names, the words: those of the ledger's own choices, then those that people use.
worded as (
  select
    contract_id,
    min(
      case
        when regexp_matches(lock_context, '^transfer to ') then 'transfer'
        when regexp_matches(lock_context, '^allocation for ') then 'allocation'
        when regexp_matches(lock_context, '(?i)^amulet-subscription|payment') then 'payment'
        when regexp_matches(lock_context, '(?i)^unlocking from supporting|\bvest') then 'vesting'
        when regexp_matches(lock_context, '(?i)^locked to support|governance|\bsvs?\b|super.?validator|featured.?app')
          then 'governance'
        else 'other'
      end) as purpose
  from coin_contracts
  where wrong is null and template_name = 'Splice.Amulet:LockedAmulet'
  group by contract_id
)
select contract_id, coalesce(named.purpose, worded.purpose) as purpose
from worded
left join named using (contract_id)
