-- One row per validator: its latest license, of the events or of the table licenses.
with
listed as (
  select validator, sponsor, first_round, last_round, missed, version, created_at, ended_at, 1 as of_events, created_at as shown_at
  from license_states
  where latest
  union all
  select validator, sponsor, first_round, last_round, coupons_missed, version, created_at, null, 0, loaded_at
  from licenses
)
select validator, sponsor, first_round, last_round, missed, version, created_at, ended_at
from listed
qualify row_number() over (
  partition by validator
  order by created_at desc, of_events desc, shown_at desc, last_round desc nulls last, sponsor, version) = 1
