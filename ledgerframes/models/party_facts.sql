-- One row per party described by contracts or rewards: its name, and whether it is a super validator or featured app.
with
names as (
  select party, min(name) as name from name_service_entries where wrong is null group by party
),
members as (
  select distinct on (party) party, name
  from governance_members
  where party is not null
  order by party, migration_id desc nulls last, record_time desc nulls last, update_id desc, node_index desc
),
super_validators as (
  select party, name from members
  union all
  select distinct provider, null from (from rewards anti join members on party = provider)
  where kind = 'sv' and provider is not null
),
apps as (
  select provider as party from featured_rights where wrong is null
  union
  select provider from rewards where featured and provider is not null
)
select
  coalesce(names.party, super_validators.party, apps.party) as party,
  -- An empty name is none.
  coalesce(nullif(names.name, ''), super_validators.name) as name,
  super_validators.party is not null as is_super_validator,
  apps.party is not null as is_featured
from names
full join super_validators using (party)
full join apps using (party)
order by all
