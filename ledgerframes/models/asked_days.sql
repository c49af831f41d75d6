-- One row per day that is asked for, counted from 1970 in UTC.
select unnest(getvariable('days')::bigint[]) as day
