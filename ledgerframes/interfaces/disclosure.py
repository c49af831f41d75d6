"""Contracts disclosed to those who do not see them: a registry hands them out, a command takes them along."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import Text, each, fits


class DisclosedContract(Struct, frozen=True, kw_only=True, rename="camel"):
    """A contract to be disclosed (contract: Resources, Registry choice context).

    The debug members come from the provider and may differ from what the blob contains; they are not sent on.

    Attributes:
        template_id: the contract's template.
        contract_id: its id.
        created_event_blob: the contract itself, opaque.
        synchronizer_id: where it is assigned now.
        debug_package_name: name of the template's package, if given.
        debug_payload: the contract's arguments, if given.
        debug_created_at: when it was created, if given.
    """

    template_id: str
    contract_id: str
    created_event_blob: str
    synchronizer_id: str
    # The debug members come from the provider and may differ from the blob, so they are never sent on.
    debug_package_name: str | None = None
    debug_payload: Any = None
    debug_created_at: str | None = None


def disclosed_json(contracts: Iterable[DisclosedContract], name: str) -> list[dict[str, Any]]:
    """Disclosed contracts as a command takes them along.

    Raises:
        InputError: one is no `DisclosedContract`, or lacks a member.
    """
    checked = each(contracts, name)
    for position, contract in enumerate(checked):
        if not isinstance(contract, DisclosedContract):
            raise InputError(f"{name}[{position}]={shown(contract)}; give a DisclosedContract")
    return [
        {
            "templateId": fits(contract.template_id, Text, f"{name}[{position}].template_id"),
            "contractId": fits(contract.contract_id, Text, f"{name}[{position}].contract_id"),
            "createdEventBlob": fits(contract.created_event_blob, Text, f"{name}[{position}].created_event_blob"),
            "synchronizerId": fits(contract.synchronizer_id, Text, f"{name}[{position}].synchronizer_id"),
        }
        for position, contract in enumerate(checked)
    ]
