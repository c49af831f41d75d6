-- One row per coin contract and open round that is active at the end of the history.
select contract_id, template_name, null::varchar as choice, payload
from creates
anti join (
  select contract_id
  from exercises
  where consuming
    and template_name in (
      'Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet', 'Splice.Round:OpenMiningRound')
) using (contract_id)
where template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet', 'Splice.Round:OpenMiningRound')
qualify first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index)
