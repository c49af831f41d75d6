-- One row per confirmation request and party on whose behalf it was submitted.
with named as (select distinct update_id, unnest(submitting_parties) as party from verdicts)
select key_of(update_id) as verdict_key, key_of(party) as party_key
from named
where party is not null
order by verdict_key, party_key
