-- One row per day of the history in UTC, also counted from 1970.
select date, day_of(date::timestamp at time zone 'UTC') as day from history_days
