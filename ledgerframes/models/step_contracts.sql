-- The contracts that steps of the token standard act on, of any template, and where they were created.
select contract_id, template_name, null::varchar as choice, payload
from creates
where contract_id in (
  select contract_id
  from exercises
  where choice in (
    'TransferInstruction_Accept', 'TransferInstruction_Reject', 'TransferInstruction_Withdraw',
    'TransferInstruction_Update', 'Allocation_ExecuteTransfer', 'Allocation_Cancel', 'Allocation_Withdraw',
    'TransferPreapproval_Send', 'TransferPreapproval_SendV2'))
qualify row_number() over (partition by contract_id order by shown_by = 'opening', shown_by = 'assignment') = 1
