-- One row per validator that has, or had, a license.
select
  key_of(validator) as validator_key, key_of(validator) as party_key, validator, key_of(sponsor) as sponsor_party_key,
  first_round, last_round, missed, version, created_at as license_created_at, ended_at
from validator_licenses
order by validator
