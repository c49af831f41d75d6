-- One row per requested day, counted from 1970 in UTC.
select unnest(getvariable('days')::bigint[]) as day
