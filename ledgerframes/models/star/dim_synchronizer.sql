-- One row per synchronizer.
with
named as (
  select synchronizer_id, record_time from updates
  union all select synchronizer_id, record_time from events
  union all select synchronizer_id, record_time from verdicts
  union all select synchronizer_id, null from traffic_purchases
)
select
  key_of(synchronizer_id) as synchronizer_key, synchronizer_id, hint_of(synchronizer_id) as hint,
  fingerprint_of(synchronizer_id) as fingerprint, min(record_time) as first_seen_at
from named
where synchronizer_id is not null
group by synchronizer_id
order by synchronizer_id
