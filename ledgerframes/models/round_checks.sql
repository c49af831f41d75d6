-- The number of rounds whose issuance to super validators follows their own configuration: pool over total weight.
with
computed as (
  select
    units(issuance_per_sv) as stated,
    case when total_weight_sv > 0 then divided(units(pools.sv) * 10000000000, units(total_weight_sv)) end as computed
  from round_history
  join round_pools as pools using (round)
  where rounds is null
)
select
  'issuance_per_sv' as what,
  count(*) filter (stated = computed) as equal,
  count(*) filter (stated <> computed) as different,
  count(*) filter (stated is null or computed is null) as unknown
from computed
