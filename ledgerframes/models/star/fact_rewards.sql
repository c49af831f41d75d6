-- One row per reward coupon or record that was created in the history.
select
  key_of(contract_id) as reward_key, date_number(utc_day(created_at)) as date_key, utc_day(created_at) as date,
  date_number(utc_day(ended_at)) as ended_date_key, utc_day(ended_at) as ended_date, key_of(round::varchar) as round_key,
  key_of(provider) as provider_party_key, key_of(beneficiary) as beneficiary_party_key,
  contract_id, kind, weight, featured, created_at, ended_at, outcome, issuance, amount
from rewards
where created_at is not null
order by created_at, contract_id
