-- The coins that steps of the token standard gave to their receivers.
select contract_id, template_name, null::varchar as choice, payload
from creates
where shown_by = 'create' and template_name = 'Splice.Amulet:Amulet'
  and contract_id in (select unnest(texts(receivers)) from standard_steps where receivers is not null)
qualify row_number() over (partition by contract_id order by migration_id, record_time, update_id, node_index) = 1
