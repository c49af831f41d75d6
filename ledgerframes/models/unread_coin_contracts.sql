-- One row per coin contract that cannot be read: whether it is locked, and from when to when it is there.
select
  contract_id,
  template_name = 'Splice.Amulet:LockedAmulet' as locked,
  case when bool_and(coins.record_time is not null) then min(coins.record_time) end as recorded_at,
  min(ends.record_time) as ended_at
from coin_contracts as coins
left join (from exercises where consuming) as ends using (contract_id, template_name)
where coins.wrong is not null
group by contract_id, template_name
order by contract_id, locked
