-- The times at which balances are taken: the multiples of the interval from the first event to the last, and the last
-- event's. `round` is the earliest round that is open then.
with
ends as (
  select
    -floored(-min(epoch_us(record_time)), step()) as first,
    floored(max(epoch_us(record_time)), step()) as last,
    max(epoch_us(record_time)) as end
  from events
),
micros as (
  select unnest(range(first, last + 1)) * step() as micros from ends
  union
  select ends.end from ends where ends.end is not null
),
times as (select row_number() over (order by micros) - 1 as place, make_timestamptz(micros) as time from micros),
rounds as (
  select
    round, contracts.record_time as opened_at, exercises.record_time as ended_at
  from round_contracts as contracts
  left join exercises on exercises.contract_id = contracts.contract_id and consuming
  where contracts.template_name = 'Splice.Round:OpenMiningRound' and round is not null
)
select place, time, min(round) as round
from times
left join rounds
  on (opened_at is null or opened_at <= time) and (ended_at is null or ended_at > time)
group by place, time
order by place
