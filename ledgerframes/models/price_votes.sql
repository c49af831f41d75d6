-- One row per vote of a super validator for the coin's price, with all current votes after it.
with
contracts as (
  select *
  from price_vote_contracts
  where wrong is null
  qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
),
ends as (
  select contract_id, migration_id, record_time, update_id, node_index
  from endings
  where template_name = 'Splice.DSO.AmuletPrice:AmuletPriceVote'
),
moments as (
  select contract_id, false as over, migration_id, record_time, update_id, node_index
  from contracts
  union all
  select contract_id, true as over, migration_id, record_time, update_id, node_index
  from ends
),
numbered as (
  select
    contract_id, over,
    row_number() over (
      order by migration_id nulls first, record_time nulls first, update_id, node_index, contract_id) as moment
  from moments
),
lives as (
  select contracts.*, begins.moment as begins, ends.moment as ends
  from contracts
  join numbered as begins on begins.contract_id = contracts.contract_id and not begins.over
  left join numbered as ends on ends.contract_id = contracts.contract_id and ends.over
),
standing as (
  select
    lives.contract_id, others.price_usd,
    row_number() over (partition by lives.contract_id order by others.price_usd) as place,
    count(*) over (partition by lives.contract_id) as voters
  from lives
  join lives as others on others.begins <= lives.begins and coalesce(others.ends > lives.begins, true)
  -- Which others stood when a vote from before the events was cast is not known.
  where others.price_usd is not null and begun() and lives.record_time is not null
),
-- As the ledger does: the middle one, or half of the two in the middle.
spreads as (
  select
    contract_id,
    max(voters) as voters,
    min(price_usd) as lowest_usd,
    max(price_usd) as highest_usd,
    min(price_usd) filter (place = voters // 2 + voters % 2) as lower,
    max(price_usd) filter (place = voters // 2 + 1) as upper
  from standing
  group by contract_id
)
select
  contract_id, record_time, sv, price_usd,
  lag(price_usd) over (partition by sv order by begins) as price_before_usd,
  voted_at, voters,
  coin((lower + upper)::decimal(38, 10) * 0.5) as median_usd,
  lowest_usd, highest_usd
from lives
left join spreads using (contract_id)
order by begins
