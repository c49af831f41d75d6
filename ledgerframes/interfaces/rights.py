"""Rights of a user as typed values, and their JSON; used by the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from ledgerframes.interfaces.rules import PartyId, Text, each, wrapped


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
_Right = Annotated[Right, Meta(description="a right such as CanActAs(party), or OtherRight")]


def new_rights(rights: Iterable[Right]) -> list[dict[str, Any]]:
    """Rights to be given, as the ledger interface writes them (contract: Resources, Right).

    Raises:
        InputError: an item is not a right, or names an invalid party.
    """
    checked: tuple[Right, ...] = each(rights, "rights", kind=_Right)
    return [
        {"kind": {right.kind: right.body} if isinstance(right, OtherRight) else wrapped(right)} for right in checked
    ]
