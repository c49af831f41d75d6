-- One row per contract of coin, or of a pool of coin, that cannot be read: whether it is locked coin (null if it is none), and
-- from when to when it is there.
with
unread as (
  select contract_id, template_name, record_time, template_name like '%:LockedAmulet' as locked
  from coin_contracts
  where wrong is not null
  union all
  select contract_id, template_name, record_time, null from pool_shares where wrong is not null
)
select
  contract_id, locked,
  case when bool_and(unread.record_time is not null) then min(unread.record_time) end as recorded_at,
  min(ends.record_time) as ended_at
from unread
left join (from exercises where consuming) as ends using (contract_id, template_name)
group by contract_id, locked
order by contract_id
