"""Contracts as the interfaces that their templates implement see them; the ledger's created events carry them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Raw

from ledgerframes.sandbox.commands.errors import STATE
from ledgerframes.sandbox.world.templates import (
    ALLOCATION_INTERFACE,
    COIN,
    HOLDING_INTERFACE,
    LOCKED_COIN,
    TRANSFER_FACTORY,
    TRANSFER_INTERFACE,
)

Payload = Mapping[str, Any]
View = Callable[[Payload], dict[str, Any]]

_META: Final[Mapping[str, Any]] = {"values": {}}


def interface_views(references: Iterable[str], entity: str, arguments: Raw) -> list[dict[str, Any]]:
    """The views of one contract.

    Args:
        references: the interfaces asked for, as `#package-name:Module:Entity` or with a package's hash; those that the
            template does not implement are left out.
        entity: `Module:Entity` of the contract's template.
        arguments: the contract's own record, as JSON.
    """
    known = IMPLEMENTED.get(entity, {})
    views = ((reference, known.get(reference.partition(":")[2])) for reference in references)
    return [{"interfaceId": _with_hash(name), **_computed(view, arguments)} for name, view in views if view is not None]


def _computed(view: View, arguments: Raw) -> dict[str, Any]:
    """A view and its status; a contract of another shape has none, and its status says so."""
    try:
        value = view(msgspec.json.decode(arguments))
    except (LookupError, TypeError, msgspec.DecodeError) as error:
        message = f"The view of this contract cannot be computed: {error!r}"
        return {"viewStatus": {"code": STATE[1], "message": message, "details": []}}
    return {"viewStatus": {"code": 0, "message": "", "details": []}, "viewValue": value}


def _with_hash(reference: str) -> str:
    """An interface's id in answers: with a package's hash even if its name was requested."""
    package, _, entity = reference.partition(":")
    return f"{sha256(package.encode()).hexdigest()}:{entity}" if package.startswith("#") else reference


def _coin(payload: Payload) -> dict[str, Any]:
    return {
        "owner": payload["owner"],
        "instrumentId": {"admin": payload["dso"], "id": "Amulet"},
        "amount": payload["amount"]["initialAmount"],
        "lock": None,
        "meta": _META,
    }


def _locked_coin(payload: Payload) -> dict[str, Any]:
    lock = payload["lock"]
    lock_view = {"holders": lock["holders"], "expiresAt": lock["expiresAt"], "expiresAfter": None, "context": None}
    return {**_coin(payload["amulet"]), "lock": lock_view}


def _factory(payload: Payload) -> dict[str, Any]:
    return {"admin": payload["dso"], "meta": _META}


#: The interfaces that each template implements, with their views; all by `Module:Entity`.
IMPLEMENTED: Final[Mapping[str, Mapping[str, View]]] = MappingProxyType(
    {
        COIN.entity: {HOLDING_INTERFACE: _coin},
        LOCKED_COIN.entity: {HOLDING_INTERFACE: _locked_coin},
        TRANSFER_FACTORY.entity: {TRANSFER_INTERFACE: _factory, ALLOCATION_INTERFACE: _factory},
    }
)
