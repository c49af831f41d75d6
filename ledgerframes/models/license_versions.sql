-- One row per version that validators run, the most frequent first; of all, or of those that were active lately.
select
  version,
  count(*) as validators,
  (divided(count(*)::hugeint * 10000000000, sum(count(*)) over ())::decimal(28, 0) * 0.0000000001::decimal(10, 10))
    ::decimal(38, 10) as share
from newest_licenses
where getvariable('within_us') is null or silent_for <= getvariable('within_us')::bigint
group by version
order by validators desc, version
