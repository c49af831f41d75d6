"""Rights of a user as typed values, and their JSON; used by the ledger interface."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import PartyId, Text, each, members_fit, shown


class CanActAs(Struct, frozen=True):
    """May authorize commands for the party."""

    party: PartyId


class CanActAsAnyParty(Struct, frozen=True):
    """May authorize commands for any party; Canton has it since 3.6."""


class CanExecuteAs(Struct, frozen=True):
    """May prepare and execute submissions as the party, without reading; `CanActAs` implies it."""

    party: PartyId


class CanExecuteAsAnyParty(Struct, frozen=True):
    """May prepare and execute transactions as any party."""


class CanReadAs(Struct, frozen=True):
    """May read what is visible to the party."""

    party: PartyId


class CanReadAsAnyParty(Struct, frozen=True):
    """May read what is visible to any party."""


class IdentityProviderAdmin(Struct, frozen=True):
    """May administer the users of its own identity provider."""


class ParticipantAdmin(Struct, frozen=True):
    """May administer the participant."""


class EmptyRight(Struct, frozen=True):
    """The variant without meaning, `Empty`."""


# Releases add rights, and one that this version does not know still has to be granted.
class OtherRight(Struct, frozen=True):
    """A right of a newer release.

    Attributes:
        kind: the variant's name.
        body: what stands under it, as it is.
    """

    kind: Text
    body: Any


_OfParty = CanActAs | CanExecuteAs | CanReadAs
_Plain = CanActAsAnyParty | CanExecuteAsAnyParty | CanReadAsAnyParty | IdentityProviderAdmin | ParticipantAdmin
Right = _OfParty | _Plain | EmptyRight | OtherRight


def right_json(right: Right) -> dict[str, Any]:
    """A right as the ledger interface writes it (contract: Resources, Right)."""
    match right:
        case OtherRight(kind, body):
            return {"kind": {kind: body}}
        case EmptyRight():
            return {"kind": {"Empty": {}}}
    return {"kind": {type(right).__name__: {"value": msgspec.to_builtins(right)}}}


def new_rights(rights: Any) -> list[dict[str, Any]]:
    """The JSON of rights to be given.

    Raises:
        InputError: an item is not a right, or names an invalid party.
    """
    checked = each(rights, "rights")
    for position, right in enumerate(checked):
        name = f"rights[{position}]"
        if not isinstance(right, Right):
            raise InputError(f"{name}={shown(right)}; give a right such as CanActAs(party), or OtherRight")
        members_fit(right, name)
    return [right_json(right) for right in checked]
