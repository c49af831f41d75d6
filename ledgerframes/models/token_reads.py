"""Every read of the token standard, by its name; `declared_reads` lists them with the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.reads import Member, Read, optional, required

#: The place of a record in the history.
PLACE: Final = ("migration_id", "record_time", "update_id", "node_index")
#: Steps of the token standard, version 1.
STANDARD: Final = (
    *("TransferFactory_Transfer", "TransferInstruction_Accept", "TransferInstruction_Reject"),
    *("TransferInstruction_Withdraw", "TransferInstruction_Update", "AllocationFactory_Allocate"),
    *("Allocation_ExecuteTransfer", "Allocation_Cancel", "Allocation_Withdraw", "BurnMintFactory_BurnMint"),
)
SENDS: Final = ("TransferPreapproval_Send", "TransferPreapproval_SendV2")
#: Metadata of the token standard and of the coin.
META: Final = "splice.lfdecentralizedtrust.org/"
#: The terms of a transfer, or of an allocation.
_LEG: Final = ("transfer.", "allocation.transferLeg.")
_INSTRUMENT: Final = {"admin": "instrumentId.admin", "instrument": "instrumentId.id"}


def sayings(*within: str, prefix: str = "") -> tuple[Member, ...]:
    """The contents of metadata, by the first of the places that states it."""
    keys = {"tx_kind": "tx-kind", "reason": "reason", "said_sender": "sender"}
    paths = {f"{prefix}{column}": f'meta.values."{META}{key}"' for column, key in keys.items()}
    return optional("json", within=within, **paths)


TOKEN_READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        # Any step of the token standard, and the sends of preapprovals: each states some of these members.
        "standard_steps": Read(
            "exercises",
            (*PLACE, "event_id", "contract_id", "interface_id"),
            (
                *optional("plain", "sender", within=(*_LEG, ""), **_INSTRUMENT),
                *optional("plain", "receiver", within=_LEG),
                *optional("amount", "amount", within=(*_LEG, "")),
                *optional("plain", "description", expected_admin="expectedAdmin"),
                *optional("json", "outputs", inputs="inputHoldingCids"),
                *sayings("", "extraArgs.", *_LEG),
            ),
            (
                *optional("plain", tag="output.tag"),
                *optional("json", receivers=("output.value.receiverHoldingCids", "receiverHoldingCids")),
                *optional("amount", burned=f'meta.values."{META}burned"'),
                *sayings("", prefix="result_"),
            ),
            choices=(*STANDARD, *SENDS),
            bare=True,
        ),
        "minted_outputs": Read(
            "standard_steps",
            (*PLACE, "event_id"),
            (*required("plain", "owner"), *required("amount", "amount")),
            json="outputs",
            each=True,
        ),
        "received_coins": Read(
            "received_contracts",
            ("contract_id",),
            (
                *required("plain", "owner"),
                *required("amount", amount="amount.initialAmount"),
            ),
            json="payload",
        ),
        # The instructions, allocations and preapprovals that steps act on.
        "step_legs": Read(
            "step_contracts",
            ("contract_id",),
            (
                *optional("plain", "sender", within=_LEG, **_INSTRUMENT),
                *optional("plain", "receiver", within=(*_LEG, "")),
                *optional("plain", "provider"),
                *optional("amount", "amount", within=_LEG),
                *sayings(*_LEG),
            ),
            json="payload",
        ),
        "holdings_changes": Read(
            "exercises",
            (*PLACE, "event_id", "interface_id"),
            (
                *required("plain", "admin"),
                *optional("plain", owner="account.owner"),
                *optional("json", sides="transferLegSides"),
                *sayings("extraArgs."),
            ),
            choices=("EventLog_HoldingsChange",),
        ),
        "leg_sides": Read(
            "holdings_changes",
            (*PLACE, "event_id", "admin", "owner", "tx_kind", "reason"),
            (
                *required("plain", "side", leg_id="transferLegId", instrument="instrumentId"),
                *required("amount", "amount"),
                *optional("plain", other="otherside.owner"),
                *sayings("", prefix="own_"),
            ),
            json="sides",
            each=True,
        ),
    }
)
