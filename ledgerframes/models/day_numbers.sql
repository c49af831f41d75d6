-- One row per day of the history, counted from 1970 in UTC.
select day_of(date::timestamp at time zone 'UTC') as day from history_days
