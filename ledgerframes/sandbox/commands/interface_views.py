"""Contracts as the interfaces that their templates implement see them; the ledger's created events carry them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from ledgerframes.sandbox.world.templates import (
    ALLOCATION_INTERFACE,
    COIN,
    HOLDING_INTERFACE,
    LOCKED_COIN,
    TRANSFER_FACTORY,
    TRANSFER_INTERFACE,
)

Payload = Mapping[str, Any]

_META: Final[Mapping[str, Any]] = {"values": {}}


def interface_views(references: Iterable[str], entity: str, payload: Payload) -> list[dict[str, Any]]:
    """The views of one contract.

    Args:
        references: the interfaces asked for, as `#package-name:Module:Entity` or with a package's hash; those that the
            template does not implement are left out.
        entity: `Module:Entity` of the contract's template.
        payload: the contract's own record.
    """
    return [
        {
            "interfaceId": _with_hash(reference),
            "viewStatus": {"code": 0, "message": "", "details": []},
            "viewValue": _VIEWS[interface, entity](payload),
        }
        for reference, interface in ((name, name.partition(":")[2]) for name in references)
        if (interface, entity) in _VIEWS
    ]


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
    held = {"holders": lock["holders"], "expiresAt": lock["expiresAt"], "expiresAfter": None, "context": None}
    return {**_coin(payload["amulet"]), "lock": held}


def _factory(payload: Payload) -> dict[str, Any]:
    return {"admin": payload["dso"], "meta": _META}


_VIEWS: Final[Mapping[tuple[str, str], Callable[[Payload], dict[str, Any]]]] = MappingProxyType(
    {
        (HOLDING_INTERFACE, COIN.entity): _coin,
        (HOLDING_INTERFACE, LOCKED_COIN.entity): _locked_coin,
        (TRANSFER_INTERFACE, TRANSFER_FACTORY.entity): _factory,
        (ALLOCATION_INTERFACE, TRANSFER_FACTORY.entity): _factory,
    }
)
