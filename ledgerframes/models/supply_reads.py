"""Every read of the purposes of locked coin and of mintable pools; `declared_reads` lists them with the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.reads import Read, optional, required
from ledgerframes.models.token_reads import PLACE

#: Locks of coin for governance, and what they become; the coin itself is another contract.
GOVERNANCE_LOCKS: Final = ("Splice.GovernanceLock:GovernanceLock", "Splice.GovernanceLock:VestingLock")
#: Amounts that can be minted, and whose owner is not decided yet.
POOLS: Final = ("Splice.Amulet:UnclaimedReward", "Splice.Amulet:UnclaimedDevelopmentFundCoupon")

SUPPLY_READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        # The amounts in the pools, with the grants of the development fund.
        "pool_shares": Read(
            "creates",
            (*PLACE, "shown_by", "contract_id"),
            required("amount", "amount"),
            templates=(*POOLS, "Splice.Amulet:DevelopmentFundCoupon"),
        ),
        # Contracts that name a locked coin state the purpose of its lock.
        "lock_users": Read(
            "creates",
            ("contract_id",),
            optional("plain", locked_coin="lockedAmulet", lock_type='allocation.meta.values."cip-105/type"'),
            templates=(
                "Splice.AmuletAllocation:AmuletAllocation",
                "Splice.AmuletAllocationV2:AmuletAllocationV2",
                "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
                *GOVERNANCE_LOCKS,
            ),
        ),
    }
)
