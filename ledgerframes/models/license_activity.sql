-- One row per validator, those never active first, then the longest inactive: its last activity, and what it missed.
select
  validator, sponsor, version, last_active_at, silent_for,
  silent_for <= getvariable('within_us')::bigint as active,
  coupons_missed
from newest_licenses
order by silent_for desc nulls first, validator
