-- Coin per weight, by round, kind and whether an application is featured, as the round's contracts last stated it.
with
stated as (
  unpivot round_history
  on columns('^issuance_per_')
  into name name value issuance
)
select
  round,
  case when name like '%app' then 'app' else replace(name, 'issuance_per_', '') end as kind,
  name = 'issuance_per_featured_app' as featured,
  issuance
from stated
