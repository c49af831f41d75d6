"""Every read of the token standard, by its name; `declared_reads` lists them with the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ledgerframes.models.reads import Member, Read

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


def _of_leg(path: str, *others: str) -> tuple[str, ...]:
    return (f"transfer.{path}", f"allocation.transferLeg.{path}", *others)


def sayings(*paths: str, prefix: str = "") -> tuple[Member, ...]:
    """The contents of metadata, by the first of the places that states it."""
    keys = {"tx_kind": "tx-kind", "reason": "reason", "said_sender": "sender"}
    return tuple(
        Member(f"{prefix}{name}", "json", tuple(f'{path}"{META}{key}"' for path in paths)) for name, key in keys.items()
    )


TOKEN_READS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        # Any step of the token standard, and the sends of preapprovals: each states some of these members.
        "standard_steps": Read(
            "exercises",
            (*PLACE, "event_id", "contract_id", "interface_id"),
            (
                Member("sender", "plain", ("transfer.sender", "allocation.transferLeg.sender", "sender")),
                Member("receiver", "plain", ("transfer.receiver", "allocation.transferLeg.receiver")),
                Member("amount", "amount", ("transfer.amount", "allocation.transferLeg.amount", "amount")),
                Member("admin", "plain", _of_leg("instrumentId.admin", "instrumentId.admin")),
                Member("instrument", "plain", _of_leg("instrumentId.id", "instrumentId.id")),
                Member("expected_admin", "plain", ("expectedAdmin",)),
                Member("inputs", "json", ("inputHoldingCids",)),
                Member("outputs", "json", ("outputs",)),
                Member("description", "plain", ("description",)),
                *sayings("meta.values.", "extraArgs.meta.values.", *_of_leg("meta.values.")),
            ),
            (
                Member("tag", "plain", ("output.tag",)),
                Member("receivers", "json", ("output.value.receiverHoldingCids", "receiverHoldingCids")),
                Member("burned", "amount", (f'meta.values."{META}burned"',)),
                *sayings("meta.values.", prefix="result_"),
            ),
            choices=(*STANDARD, *SENDS),
            bare=True,
        ),
        "minted_outputs": Read(
            "standard_steps",
            (*PLACE, "event_id"),
            (
                Member("owner", "plain", ("owner",), required=True),
                Member("amount", "amount", ("amount",), required=True),
            ),
            json="outputs",
            each=True,
        ),
        "received_coins": Read(
            "received_contracts",
            ("contract_id",),
            (
                Member("owner", "plain", ("owner",), required=True),
                Member("amount", "amount", ("amount.initialAmount",), required=True),
            ),
            json="payload",
        ),
        # The instructions, allocations and preapprovals that steps act on.
        "step_legs": Read(
            "step_contracts",
            ("contract_id",),
            (
                Member("sender", "plain", _of_leg("sender")),
                Member("receiver", "plain", (*_of_leg("receiver"), "receiver")),
                Member("provider", "plain", ("provider",)),
                Member("amount", "amount", _of_leg("amount")),
                Member("admin", "plain", _of_leg("instrumentId.admin")),
                Member("instrument", "plain", _of_leg("instrumentId.id")),
                *sayings(*_of_leg("meta.values.")),
            ),
            json="payload",
        ),
        "holdings_changes": Read(
            "exercises",
            (*PLACE, "event_id", "interface_id"),
            (
                Member("admin", "plain", ("admin",), required=True),
                Member("owner", "plain", ("account.owner",)),
                Member("sides", "json", ("transferLegSides",)),
                *sayings("extraArgs.meta.values."),
            ),
            choices=("EventLog_HoldingsChange",),
        ),
        "leg_sides": Read(
            "holdings_changes",
            (*PLACE, "event_id", "admin", "owner", "tx_kind", "reason"),
            (
                Member("leg_id", "plain", ("transferLegId",), required=True),
                Member("side", "plain", ("side",), required=True),
                Member("other", "plain", ("otherside.owner",)),
                Member("amount", "amount", ("amount",), required=True),
                Member("instrument", "plain", ("instrumentId",), required=True),
                *sayings("meta.values.", prefix="own_"),
            ),
            json="sides",
            each=True,
        ),
    }
)
