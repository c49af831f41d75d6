-- One row per confirmation request that mediators decided on.
select
  key_of(verdicts.update_id) as verdict_key, key_of(updates.update_id) as update_key,
  date_number(utc_day(verdicts.record_time)) as date_key, utc_day(verdicts.record_time) as date,
  key_of(verdicts.synchronizer_id) as synchronizer_key,
  verdicts.update_id, verdicts.migration_id, verdicts.record_time, finalization_time, result, mediator_group,
  submitting_participant_uid, has_update, total_traffic_cost
from verdicts
left join updates on updates.update_id = verdicts.update_id
order by verdicts.migration_id, verdicts.record_time, verdicts.update_id
