-- One row per validator: the rounds that it reported in, and how many rounds it has been silent.
-- A license is created again at every change; the latest counts. One that was cancelled or withdrawn is gone.
with
records as (
  select validator, max(round) as round
  from liveness_records
  where wrong is null
  group by validator
),
known as (
  select
    validator, sponsor, first_round, missed, version,
    greatest(last_round, round) as last_round,
    -- Without a report of its own there is nothing to count.
    first_round is not null and last_round is not null and missed is not null as reported
  from (
    from latest_licenses
    where choice is null or choice not in ('ValidatorLicense_Cancel', 'ValidatorLicense_Withdraw')) as licensed
  full join records using (validator)
),
-- The newest round that nobody can report for any more: validators have until its closing time, which only the open
-- phase states. If no round is known, the newest that one of them reported for.
last as (select max(record_time) as time from events),
newest as (
  select coalesce(
    (
      select max(round)
      from round_numbers, last
      where template_name <> 'Splice.Round:OpenMiningRound' or coalesce(target_closes_at <= last.time, true)),
    (select max(last_round) from known)) as round
)
select
  validator,
  sponsor,
  case when reported then first_round end as first_round,
  last_round,
  case when reported then last_round - first_round + 1 - missed end as collected,
  case when reported then missed end as missed,
  case when last_round is not null then greatest(newest.round - last_round, 0) end as silent_for,
  version
from known
cross join newest
order by validator
