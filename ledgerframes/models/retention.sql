-- One row per week in which parties first acted, and week since then up to the last of the events: how many acted again.
with
acting as (
  select distinct date_trunc('week', record_time at time zone 'UTC') as week, unnest(acting_parties) as party
  from events
),
firsts as (select party, min(week) as cohort from acting group by party),
cohorts as (select cohort, count(*) as cohort_parties from firsts group by cohort),
again as (
  select cohort, datediff('day', cohort, week) // 7 as weeks_after, count(*) as parties
  from acting
  join firsts using (party)
  group by all
),
every_week as (
  select cohort, cohort_parties, unnest(generate_series(0, datediff('day', cohort, last) // 7)) as weeks_after
  from cohorts
  cross join (select max(week) as last from acting) as newest
)
select
  cohort at time zone 'UTC' as cohort, weeks_after, cohort_parties, coalesce(parties, 0) as parties,
  held_whole((cohort + to_days((7 * weeks_after)::integer)) at time zone 'UTC', last.time)
    and held_whole((cohort + to_days((7 * weeks_after + 6)::integer)) at time zone 'UTC', last.time) as whole
from every_week
cross join (select max(record_time) as time from events) as last
left join again using (cohort, weeks_after)
order by cohort, weeks_after
