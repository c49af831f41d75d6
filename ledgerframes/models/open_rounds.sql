-- One row per round contract that is open at the end of the history.
select contract_id, template_name, choice, payload
from held_contracts
where template_name = 'Splice.Round:OpenMiningRound'
