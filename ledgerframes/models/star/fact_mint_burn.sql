-- One row per update that creates, ends, mints or burns coin; null means unknown, never 0.
select
  key_of(update_id) as update_key, date_number(utc_day(record_time)) as date_key, utc_day(record_time) as date,
  key_of(round::varchar) as round_key,
  record_time, amulet_price_usd,
  minted_app, minted_app_or_validator, minted_validator, minted_validator_faucet, minted_sv, minted_unclaimed_activity,
  minted_development_fund, minted_tap, minted_other,
  burned_traffic, burned_names, burned_preapprovals, burned_fees, burned_expiry,
  net_change, unexplained, inputs_from
from mint_burn
order by record_time, update_id
