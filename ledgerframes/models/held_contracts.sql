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
-- A create that occurs twice in the history is one contract; an assignment shows one created elsewhere.
qualify row_number() over (
  partition by contract_id
  order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1
