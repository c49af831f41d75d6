"""Networks of servers that a test makes, whose waits take no time, and what another server answers to a request."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import ledgerframes as lf
from ledgerframes.config.settings import INTERFACES, Settings
from tests.clocks import SkippingClock
from tests.transport.hostile_server import Heard, HostileServer, Reply


def network(**settings: Any) -> lf.types.Network:
    """A network of these settings."""
    return lf.types.Network(Settings(**settings), clock=SkippingClock())


def asking(*servers: Any, **settings: Any) -> lf.types.Network:
    """A network of scans."""
    return network(scan_url=tuple(f"{server.url}/api/scan" for server in servers), **settings)


def asking_one(url: str, **settings: Any) -> lf.types.Network:
    """A network whose four interfaces are at one address."""
    urls = {f"{interface}_url": (url,) for interface in INTERFACES}
    tokens = {"ledger_token": "t0ken-of-the-test", "validator_token": "t0ken-of-the-test"}
    return network(**urls, **tokens, **settings)


def reply(body: Any, status: int = 200, kind: str = "application/json") -> Reply:
    """One answer; a body that is not bytes goes out as JSON."""
    return Reply(status, body if isinstance(body, bytes) else json.dumps(body).encode(), (("Content-Type", kind),))


@contextmanager
def answering(*bodies: Any, status: int = 200, kind: str = "application/json") -> Iterator[lf.types.Network]:
    """A network whose four interfaces give these bodies in turn, the last one for ever; JSON unless they are bytes."""
    with (
        HostileServer([reply(body, status, kind) for body in bodies]) as server,
        asking_one(server.url, attempts=2) as net,
    ):
        yield net


def forwarded(base: str, heard: Heard) -> Reply:
    """What the server at this URL answers to a request that another one got."""
    there = urlsplit(base)
    with closing(http.client.HTTPConnection(there.netloc)) as far:
        far.request(heard.method, there.path + heard.target, heard.body, {"Content-Type": "application/json"})
        answer = far.getresponse()
        return Reply(answer.status, answer.read(), (("Content-Type", answer.headers["Content-Type"]),))
