-- Coupons whose terms are known, each once: an assignment or an opening may show one again.
select * replace (
  case kind when 'unclaimed_activity' then beneficiary else provider end as provider,
  -- A coupon of the second version without a kind is an application's. Of the kinds that it may state one is validators'.
  case
    when kind is not null then kind
    when stated_kind is null then 'app'
    when regexp_matches(stated_name, '(?i)validator') then 'validator'
    when regexp_matches(stated_name, '(?i)app') then 'app'
  end as kind)
from (
  -- An enumeration is a text, a variant a record with its tag.
  select *, coalesce(plain(stated_kind), try(json_extract_string(stated_kind, '$.tag'))) as stated_name
  from coupon_contracts
)
join coupon_kinds using (template_name)
where wrong is null
  and case kind when 'unclaimed_activity' then beneficiary else provider end is not null
  and (weight is not null or kind = 'validator_faucet')
  and (round is not null or in_coin)
qualify row_number() over (
  partition by contract_id
  order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1
