-- Records of rounds that are not used: the proposals of confirmations, and the weights of unknown rounds.
select template_name, choice, 1 as rows
from exercises
where choice = 'DsoRules_ConfirmAction' and contains(payload, 'MiningRound_StartIssuing')
union all
select template_name, choice, 1 as rows
from issuing_starts
where issuing_contract not in (select contract_id from round_contracts where round is not null)
