"""A server that answers by a table of paths, and what its client's interfaces asked; the tests beside call it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ledgerframes as lf
from tests.asking import asking_one, reply
from tests.transport.hostile_server import Heard, HostileServer, Reply

#: Where nobody listens: requests can be looked at, and whatever is sent fails.
NOWHERE = "http://127.0.0.1:9"
UNKNOWN_ROUTE = reply(b"The requested resource could not be found.", 404, "text/plain")


@dataclass(frozen=True)
class Far:
    """The served side: a network that talks to it, and what it asked, in order."""

    net: lf.types.Network
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

    with HostileServer(by) as served, asking_one(served.url) as net:
        yield Far(net, served.heard)
