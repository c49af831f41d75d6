-- One row per issuer, instrument and time at which its supply was computed. Registries may leave that time out, and their
-- admin; then their address distinguishes them.
with
stated as (
  select
    coalesce(instrument_admin, source) as issuer, instrument_admin, instrument_id, symbol,
    coalesce(total_supply_as_of, loaded_at) as time, total_supply
  from instruments
  where total_supply is not null
  qualify row_number() over (
    partition by issuer, instrument_id, coalesce(total_supply_as_of, loaded_at)
    order by loaded_at desc nulls last, total_supply desc, symbol) = 1
)
select
  instrument_admin, instrument_id, symbol, time, total_supply,
  (total_supply - lag(total_supply) over (partition by issuer, instrument_id order by time))::decimal(38, 10) as change
from stated
order by issuer, instrument_id, time
