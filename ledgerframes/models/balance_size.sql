-- The maximum numbers of times and owners of balances, before any of them is computed.
with
span as (
  select floored(max(epoch_us(record_time)), step()) - floored(min(epoch_us(record_time)), step()) + 2 as times
  from events
),
owners as (
  select count(distinct owner) as owners
  from coin_contracts
  where getvariable('parties') is null or list_contains(getvariable('parties')::varchar[], owner)
)
select coalesce(times, 0) as times, greatest(owners, coalesce(len(getvariable('parties')::varchar[]), 0)) as owners
from span
cross join owners
