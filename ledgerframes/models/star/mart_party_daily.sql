-- One row per day and party that acted, paid, received or was rewarded on it.
with
last as (select max(record_time) as time from events),
figures as (
  select
    utc_day(record_time) as date, unnest(list_distinct(acting_parties)) as party, 1 as actions, 0 as payments,
    0::decimal(38, 10) as paid, 0::decimal(38, 10) as received, 0::decimal(38, 10) as rewards
  from events
  union all
  select utc_day(record_time), sender, 0, 1, amount, 0::decimal(38, 10), 0::decimal(38, 10)
  from transfers
  where sender is distinct from receiver and kind <> 'burn'
  union all
  select utc_day(record_time), receiver, 0, 0, 0::decimal(38, 10), amount, 0::decimal(38, 10)
  from transfers
  where sender is distinct from receiver and kind <> 'burn'
  union all
  select utc_day(record_time), party, 0, 0, 0::decimal(38, 10), 0::decimal(38, 10), amount
  from reward_flows
  where event = 'claimed'
)
select
  date_number(date) as date_key, date, key_of(party) as party_key,
  sum(actions)::bigint as actions, sum(payments)::bigint as payments,
  sum_of_all(paid) as paid, sum_of_all(received) as received, sum_of_all(rewards) as rewards_claimed,
  held_whole(date::timestamp at time zone 'UTC', max(last.time)) as whole
from figures
cross join last
where party is not null
group by date, party
order by date, party
