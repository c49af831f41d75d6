-- One row per update that creates, ends, mints or burns coin. Coin created less coin ended must be minted less burned.
with
net as (
  select
    update_id, min(record_time) as record_time,
    case when count(*) = count(change) then sum(change) end as net_change,
    case
      when count(*) > count(change) then 'unknown'
      when bool_or(what = 'settled') then 'summary'
      else 'creates'
    end as inputs_from
  from coin_changes
  group by update_id
),
-- The round of an update is that of the first of its entries that states one.
sums as (
  select
    update_id, min(record_time) as record_time, arg_min(round, place) as round, arg_min(price, place) as price,
    coalesce(sum(columns('^(minted|burned)_.*')), 0)::decimal(38, 10),
    bool_or(coalesce(expiry_unknown, false)) as expiry_unknown, bool_or(coalesce(names_unknown, false)) as names_unknown
  from coin_entries
  group by update_id
),
flows as (
  select
    update_id,
    coalesce(net.record_time, sums.record_time) as record_time,
    round, price, coalesce(columns('^(minted|burned)_.*'), 0)::decimal(38, 10), expiry_unknown, names_unknown,
    case when net.update_id is null then 0 else net_change end as net_change,
    coalesce(inputs_from, 'creates') as inputs_from
  from sums
  full join net using (update_id)
),
-- A sum with a value that is not known is not known.
honest as (
  select * replace (
    case when expiry_unknown then null else burned_expiry end as burned_expiry,
    case when names_unknown then null else burned_names end as burned_names)
  from flows
)
select
  update_id, record_time, round, price as amulet_price_usd,
  columns('^minted_.*'),
  burned_traffic, burned_names, burned_preapprovals, burned_fees, burned_expiry,
  net_change::decimal(38, 10) as net_change,
  (net_change
    - (list_sum([*columns('^minted_')])
      - burned_traffic - burned_names - burned_preapprovals - burned_fees - burned_expiry)
  )::decimal(38, 10) as unexplained,
  inputs_from
from honest
order by record_time, update_id
