"""One server of an interface: can it be reached, is it one, does it take the token, does its clock agree."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from ledgerframes.apps.doctor.diagnosis import Finding, bare, remedy
from ledgerframes.config.settings import Interface
from ledgerframes.errors import (
    ConfigurationError,
    DecodeError,
    LedgerframesError,
    NoAnswerError,
    NotAuthorizedError,
    NotFoundError,
)
from ledgerframes.interfaces import ledger, registry, validator
from ledgerframes.interfaces.history_pages import UPDATES
from ledgerframes.network import Network
from ledgerframes.recording import REPLAYED
from ledgerframes.timestamps import http_date
from ledgerframes.transport import Answer, Request, Sender
from ledgerframes.transport.classify import ADMITS_KNOWN
from ledgerframes.transport.request import PREFIXES

SKEW: Final = 2.0  # seconds; the header Date has whole seconds
SLOW: Final = 2.0

#: The smallest request that only the right kind of server answers so, and the member that its answer has.
_PROBES: Final[dict[Interface, tuple[Request, str]]] = {
    "scan": (UPDATES.request(json={"page_size": 1}), "transactions"),
    "validator": (validator.NAME_ENTRIES.request(), "entries"),
    "registry": (registry.INSTRUMENTS.request(query={"pageSize": 1}), "instruments"),
    "ledger": (ledger.LIST_USERS.request(query={"pageSize": 1}), "users"),
}

_body: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def examine_server(net: Network, interface: Interface, server: str) -> Iterator[Finding]:
    """Ask one server, with one request: whether it is reachable; if so, what it is, and its clock."""
    subject = f"{interface} {server}"
    request, member = _PROBES[interface]
    try:
        answer = Sender(net.transport).on(server).send(request, read=_body.decode)
    except LedgerframesError as error:
        yield from _failed(error, subject, interface)
        return
    slow = f"answers take {answer.seconds:.1f} s; another server ({interface}_url=) may be closer"
    late = answer.seconds > SLOW
    took = f"answered in {answer.seconds * 1000:.0f} ms"
    yield Finding(subject, "reached", "warn" if late else "ok", took, slow if late else "")
    if member not in answer.value:
        yield _no_such_server(subject, interface, f"its answer has no member {member!r}")
        return
    yield Finding(subject, "kind", "ok", f"it answers as a {interface} does")
    yield _clock(answer, subject)


def _failed(error: LedgerframesError, subject: str, interface: Interface) -> Iterator[Finding]:
    """The findings that an error about a server leads to, in the words of the error."""
    if isinstance(error, NoAnswerError):
        yield Finding(subject, "reached", "fail", bare(error), remedy(error))
        return
    if isinstance(error, ConfigurationError):
        yield Finding(subject, "reached", "fail", str(error), "fix or unset the setting or variable that it names")
        return
    yield Finding(subject, "reached", "ok", "it answers")
    if isinstance(error, NotAuthorizedError):
        yield _refused(error, subject, interface)
    elif isinstance(error, DecodeError) or (isinstance(error, NotFoundError) and error.unknown_route):
        yield _no_such_server(subject, interface, bare(error))
    else:
        yield Finding(subject, "kind", "fail", bare(error), remedy(error))


def _refused(error: NotAuthorizedError, subject: str, interface: Interface) -> Finding:
    said = f"({error.status}): {error.detail}"
    if ADMITS_KNOWN in str(error):
        return Finding(subject, "admission", "fail", f"refused {said}", remedy(error))
    if error.status == 401:
        return Finding(subject, "token", "fail", f"refused {said}", remedy(error))
    right = "list users" if interface == "ledger" else "read here"
    advice = f"other calls may work; ask the operator for the right to {right}"
    return Finding(subject, "token", "warn", f"taken, but it does not allow this {said}", advice)


def _no_such_server(subject: str, interface: Interface, why: str) -> Finding:
    prefix = PREFIXES.get(interface)
    lacks = f"it may lack the prefix {prefix}, or be" if prefix else "it may be"
    advice = f"check {interface}_url=: {lacks} another kind of server"
    return Finding(subject, "kind", "fail", f"this is not a {interface}: {why}", advice)


def _clock(answer: Answer[dict[str, msgspec.Raw]], subject: str) -> Finding:
    """Compare clocks by the header Date, relative to the middle of the request."""
    if REPLAYED in answer.headers:
        return Finding(subject, "clock", "unknown", "its answers were recorded")
    try:
        there = http_date(answer.headers["date"])
    except (KeyError, ValueError):
        return Finding(subject, "clock", "unknown", "it sends no Date header")
    apart = (datetime.now(UTC) - there).total_seconds() - answer.seconds / 2 - 0.5
    if abs(apart) <= SKEW:
        return Finding(subject, "clock", "ok", f"within {SKEW:g} s of this machine's")
    found = f"this machine's is {abs(apart):,.0f} s {'ahead of' if apart > 0 else 'behind'} it"
    advice = "set the clock: a sync looks for the newest updates near this machine's now"
    return Finding(subject, "clock", "warn", found, advice)
