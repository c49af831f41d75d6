"""Interfaces without a server to look at requests, and a server that answers by a table; the tests here call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ledgerframes.config.settings import Settings
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.validator import Validator
from ledgerframes.transport import Sender, Transport
from tests.asking import reply
from tests.clocks import FakeClock
from tests.transport.hostile_server import Heard, HostileServer, Reply

TOKEN = "token-of-the-tests"


UNKNOWN_ROUTE = reply(b"The requested resource could not be found.", 404, "text/plain")


@dataclass(frozen=True)
class Far:
    """The served side: three interfaces that talk to it, and what they asked, in order."""

    ledger: Ledger
    validator: Validator
    registry: Registry
    asked: list[Heard]

    @property
    def routes(self) -> list[str]:
        return [f"{asked.method} {asked.path}" for asked in self.asked]


@contextmanager
def far(**replies: Reply | list[Reply]) -> Iterator[Far]:
    """Serve replies by the last part of the path; of a list, each goes out once and the last one for ever."""
    left = {name: [*given] if isinstance(given, list) else [given] for name, given in replies.items()}

    def by(heard: Heard) -> Reply:
        chosen = left.get(heard.path.rpartition("/")[2].replace("-", "_"), [UNKNOWN_ROUTE])
        return chosen.pop(0) if len(chosen) > 1 else chosen[0]

    with HostileServer(by) as served, connected(served.url) as sender:
        yield Far(Ledger(sender), Validator(sender), Registry(sender), served.heard)


@contextmanager
def connected(url: str, **settings: Any) -> Iterator[Sender]:
    """A connection to one server for the three interfaces."""
    with _transport(url, **settings) as transport:
        yield Sender(transport)


def _transport(url: str, **settings: Any) -> Transport:
    urls = {f"{interface}_url": url for interface in ("ledger", "validator", "registry")}
    tokens = {"ledger_token": TOKEN, "validator_token": TOKEN}
    return Transport(Settings(**urls, **tokens | settings), clock=FakeClock())


def nowhere() -> Sender:
    """A connection whose servers do not exist: whatever is sent fails, but requests can be looked at."""
    return Sender(_transport("http://127.0.0.1:9", attempts=1))


def body_of(interface: Ledger | Validator | Registry, call: str, *arguments: Any, **options: Any) -> Any:
    """The JSON that a call would send."""
    prepared = interface.preview(call, *arguments, **options)
    assert prepared.body is not None
    return json.loads(prepared.body)
