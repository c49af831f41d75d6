-- Choices on coins that no model knows.
select template_name, choice, rows
from exercised
where template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
  and choice not in (
    'Archive', 'Amulet_Expire', 'Amulet_ExpireV2', 'LockedAmulet_ExpireAmulet', 'LockedAmulet_ExpireAmuletV2',
    'LockedAmulet_Unlock', 'LockedAmulet_UnlockV2', 'LockedAmulet_OwnerExpireLock', 'LockedAmulet_OwnerExpireLockV2')
