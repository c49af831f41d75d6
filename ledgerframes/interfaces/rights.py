"""Rights of a user as typed values, to and from JSON; used by the ledger interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import PartyId, Text, each, members_fit, shown


class CanActAs(Struct, frozen=True):
    """May authorize commands for the party."""

    party: PartyId


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


class OtherRight(Struct, frozen=True):
    """A right of a newer release.

    Attributes:
        kind: the variant's name.
        body: what stands under it, as it is.
    """

    kind: Text
    body: Any


_OfParty = CanActAs | CanExecuteAs | CanReadAs
_Plain = CanExecuteAsAnyParty | CanReadAsAnyParty | IdentityProviderAdmin | ParticipantAdmin
Right = _OfParty | _Plain | EmptyRight | OtherRight

_KNOWN: Final[tuple[type[_OfParty | _Plain], ...]] = (
    CanActAs, CanExecuteAs, CanReadAs, CanExecuteAsAnyParty, CanReadAsAnyParty, IdentityProviderAdmin, ParticipantAdmin,
)  # fmt: skip


def right_json(right: Right) -> dict[str, Any]:
    """A right as the ledger interface writes it (contract: Resources, Right)."""
    match right:
        case OtherRight(kind, body):
            return {"kind": {kind: body}}
        case EmptyRight():
            return {"kind": {"Empty": {}}}
    return {"kind": {type(right).__name__: {"value": msgspec.to_builtins(right)}}}


def read_right(value: Mapping[str, Any]) -> Right:
    """A right from its JSON; whatever this release does not know whole comes back as `OtherRight`.

    Raises:
        InputError: this is no object with one `kind` of one variant.
    """
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(kind, Mapping) or len(kind) != 1:
        raise InputError(f"right={shown(value)}; give an object with one kind that has exactly one variant")
    name, body = next(iter(kind.items()))
    found = next((right for right in _candidates(name, body) if right_json(right) == value), None)
    return OtherRight(name, body) if found is None else found


def new_rights(rights: Any) -> list[dict[str, Any]]:
    """The JSON of rights to be given.

    Raises:
        InputError: one is no right, or names a party that cannot be one.
    """
    found = each(rights, "rights")
    for position, right in enumerate(found):
        name = f"rights[{position}]"
        if not isinstance(right, Right):
            raise InputError(f"{name}={shown(right)}; give a right such as CanActAs(party), or OtherRight")
        members_fit(right, name)
    return [right_json(right) for right in found]


def _candidates(name: str, body: Any) -> list[Right]:
    """The known right of this name, where the body can be read as its members."""
    members = body.get("value") if isinstance(body, Mapping) else None
    candidates: list[Right] = [EmptyRight()]
    for kind in _KNOWN:
        if kind.__name__ == name:
            try:
                candidates.append(msgspec.convert(members, kind))
            except msgspec.ValidationError:
                continue
    return candidates
