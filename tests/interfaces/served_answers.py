"""Interfaces without a server to look at requests, and a server that answers by a table; the tests here call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ledgerframes.config.settings import Settings
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.validator import Validator
from ledgerframes.sandbox.serving import serve
from ledgerframes.transport import Transport
from tests.clocks import FakeClock

TOKEN = "token-of-the-tests"


@dataclass(frozen=True)
class Reply:
    """One answer; a body that is not bytes goes out as JSON."""

    body: Any = b""
    status: int = 200
    content_type: str = "application/json"

    @property
    def sent(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


UNKNOWN_ROUTE = Reply(b"The requested resource could not be found.", 404, "text/plain")


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    route: str
    query: dict[str, str]
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Far:
    """The served side: three interfaces that talk to it, and what they asked, in order."""

    ledger: Ledger
    validator: Validator
    registry: Registry
    asked: list[Asked] = field(default_factory=list)

    @property
    def routes(self) -> list[str]:
        return [asked.route for asked in self.asked]


@contextmanager
def far(**replies: Reply | list[Reply]) -> Iterator[Far]:
    """Serve replies by the last part of the path; of a list, each goes out once and the last one for ever."""
    asked: list[Asked] = []

    async def answer(request: Request) -> Response:
        content = await request.body()
        path = request.scope["raw_path"].decode()
        asked.append(Asked(f"{request.method} {path}", dict(request.query_params), dict(request.headers), content))
        chosen = replies.get(path.rpartition("/")[2].replace("-", "_"), UNKNOWN_ROUTE)
        if isinstance(chosen, list):
            chosen = chosen.pop(0) if len(chosen) > 1 else chosen[0]
        return Response(chosen.sent, chosen.status, {"content-type": chosen.content_type})

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    with serve(app) as served, connected(served.url) as transport:
        yield Far(Ledger(transport), Validator(transport), Registry(transport), asked)


def connected(url: str, **settings: Any) -> Transport:
    """A transport to one server for the three interfaces."""
    urls = {f"{interface}_url": url for interface in ("ledger", "validator", "registry")}
    tokens = {"ledger_token": TOKEN, "validator_token": TOKEN}
    return Transport(Settings(**urls, **tokens | settings), clock=FakeClock())


def nowhere() -> Transport:
    """A transport whose servers do not exist: whatever is sent fails, but requests can be looked at."""
    return connected("http://127.0.0.1:9", attempts=1)


def body_of(interface: Ledger | Validator | Registry, call: str, *arguments: Any, **options: Any) -> Any:
    """The JSON that a call would send."""
    prepared = interface.preview(call, *arguments, **options)
    assert prepared.body is not None
    return json.loads(prepared.body)
