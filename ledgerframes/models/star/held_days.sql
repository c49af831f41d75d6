-- One row per day, counted from 1970 in UTC, with an update.
select distinct day_of(record_time) as day from updates
