-- One row per party that a fact or a license names.
select
  key_of(party_id) as party_key, party_id, hint_of(party_id) as hint, fingerprint_of(party_id) as fingerprint,
  party_facts.name, first_seen_at, validator is not null as is_validator,
  coalesce(is_super_validator, false) as is_super_validator, coalesce(is_featured, false) as is_featured
from named_parties
left join party_facts on party = party_id
left join validator_licenses on validator = party_id
order by party_id
