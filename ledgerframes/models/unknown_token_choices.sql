-- Choices of the token standard's interfaces that no model knows, and known names that are exercised otherwise.
select template_name, choice, rows
from exercised
where regexp_matches(coalesce(interface_id, ''), '(^|:)Splice\.Api\.Token\.')
  <> (choice in (select choice from choices where does in ('standard', 'reports')))
  and (
    regexp_matches(coalesce(interface_id, ''), '(^|:)Splice\.Api\.Token\.')
    or choice in (select choice from choices where does in ('standard', 'reports')))
  and choice not in (
    'Archive', 'TransferFactory_PublicFetch', 'AllocationFactory_PublicFetch', 'BurnMintFactory_PublicFetch')
