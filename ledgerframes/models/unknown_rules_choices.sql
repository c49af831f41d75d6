-- Choices on the coin's rules that may move coin in a way that no model knows.
select template_name, choice, rows
from exercised
where template_name in (
    'Splice.AmuletRules:AmuletRules', 'Splice.AmuletRules:TransferPreapproval',
    'Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules')
  and choice not in (select choice from choices)
  and choice not in (select choice from still_choices)
