"""Calls for scan's current state, sent through a validator if there is no scan; `Network` uses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import msgspec

from ledgerframes.errors import ConfigurationError
from ledgerframes.interfaces import scan_now
from ledgerframes.interfaces.answers import reads
from ledgerframes.interfaces.scan import ANS_RULES
from ledgerframes.transport import Endpoint, Request, Sender, Transport

_PREFIX: Final = "/v0/scan-proxy"
#: The calls of scan that the official scan-proxy file has.
_SERVED: Final = frozenset(
    {
        scan_now.ROUNDS, scan_now.NAMES, scan_now.NAME_BY_NAME, scan_now.FEATURED_APP,
        scan_now.DSO, ANS_RULES,
    }
)  # fmt: skip
_GIVES: Final = (
    "a validator gives names, name rules, open and issuing rounds, super validators, a provider's featured app right"
    " (net.scan.featured_app) and holdings summaries, and no history, snapshot, license, traffic or list of scans: give"
    " scan_url= for those, or ledger_url= for a participant's own history (lf.load_ledger_history)"
)


def through_validator(transport: Transport) -> Sender:
    """A way to send requests to scan that a validator passes on; others are refused before they are sent."""
    return Sender(transport, passed_on=_passed_on)


def _passed_on(request: Request, read: Callable[[bytes], Any]) -> tuple[Request, Callable[[bytes], Any]]:
    """The request of the validator's own route, and what reads its answer.

    Raises:
        ConfigurationError: there is no such route.
    """
    endpoint = request.endpoint
    if endpoint not in _SERVED:
        raise ConfigurationError(f"no scan is known to ask {endpoint} of; {_GIVES}")
    path = _PREFIX + request.path.removeprefix("/v0")
    method = "GET" if endpoint == scan_now.ROUNDS else endpoint.method
    own = Endpoint("validator", method, _PREFIX + endpoint.path.removeprefix("/v0"))
    if endpoint == scan_now.ROUNDS:  # the proxy returns all rounds, so it takes no list of those that are known
        return Request(own, path, request.query), lambda body: read(_by_contract(body))
    return replace(request, endpoint=own, path=path), read


_lists: Final = reads(dict[str, list[msgspec.Raw]])
_name_of: Final = reads(str, "contract", "contract_id")


def _by_contract(body: bytes) -> bytes:
    """Rounds in the form of scan: by contract id, where the proxy lists them."""
    return msgspec.json.encode({name: {_name_of(item): item for item in items} for name, items in _lists(body).items()})
