"""Serves answers captured from real servers on a loopback port; tests of the client's reading call it.

The captures lie beside the project in `../shared/captures`; where that folder is missing, the tests that need
it are skipped. A capture is chosen by method and path, then by its cursor. Page sizes and query values of the caller's
own choosing do not matter.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.transport.hostile_server import Heard, HostileServer, Reply, text

CAPTURES = Path(__file__).resolve().parents[2] / "shared" / "captures"
PREFIXES = {"scan": "/api/scan", "validator": "/api/validator", "registry": "", "ledger": "/api/ledger"}

# Members of a request that say which page is wanted; a capture answers only the page it was captured from.
CURSORS = ("after", "pageToken")

#: Histories by their paths, and the member that holds a page's items.
HISTORIES = {"/api/scan/v2/updates": "transactions", "/api/scan/v0/events": "events"}


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of captures; skips the test where it is missing."""
    if not CAPTURES.is_dir():
        pytest.skip(f"no captured answers: the folder {CAPTURES} is missing")
    return CAPTURES


@dataclass(frozen=True)
class Capture:
    """One captured answer with the request it belongs to."""

    name: str
    method: str
    path: str
    asked: dict[str, Any]
    status: int
    content_type: str
    body: Any

    @property
    def reply(self) -> Reply:
        """The answer as it goes over the wire."""
        compact = json.dumps(self.body, ensure_ascii=False, separators=(",", ":"))
        body = self.body if isinstance(self.body, str) else compact
        return Reply(self.status, body.encode(), (("Content-Type", self.content_type),))

    def matches(self, method: str, path: str) -> bool:
        """Whether this is a capture of that route; a path parameter stands for any one segment."""
        split = re.split(r"(\{[^}]+\})", self.path)
        parts = (re.escape(part) if place % 2 == 0 else "[^/]+" for place, part in enumerate(split))
        return method == self.method and re.fullmatch("".join(parts), path) is not None


class Replay(HostileServer):
    """Captures being served; a context manager."""

    @property
    def urls(self) -> dict[str, str]:
        """The four base URLs by the name of their argument of `connect`."""
        return {f"{interface}_url": self.url + prefix for interface, prefix in PREFIXES.items()}


def replay(*names: str) -> Replay:
    """Serve the captures of these names (without `.json`), or all but errors and answers to a hint where none is named.

    A capture named earlier wins where two answer the same request. Every other request is a 404 in text.
    """
    every = (path.stem for path in sorted(CAPTURES.glob("*.json")) if not re.search("-error-|-cached", path.stem))
    chosen = [read_capture(name) for name in names or every]

    def answer(heard: Heard) -> Reply:
        found = choose(chosen, heard)
        return found.reply if found else text("The requested resource could not be found.", 404)

    return Replay(answer)


def read_capture(name: str) -> Capture:
    """Read one capture by its name without `.json`."""
    captured = json.loads((CAPTURES / f"{name}.json").read_text())
    request, response = captured["request"], captured["response"]
    return Capture(
        name=name,
        method=request["method"],
        path=PREFIXES[request["interface"]] + request["path"],
        asked={**request.get("params", {}), **request.get("json", {})},
        status=response["status"],
        content_type=response["content_type"],
        body=response["body"],
    )


def choose(captures: list[Capture], heard: Heard) -> Capture | None:
    """The capture that answers a request, if any."""
    asked = {**heard.query, **(heard.json if heard.body else {})}
    routes = [capture for capture in captures if capture.matches(heard.method, heard.path)]
    if heard.path in HISTORIES and routes:
        page, member = max(routes, key=lambda capture: len(capture.asked)), HISTORIES[heard.path]
        return replace(page, body=page.body | {member: beyond(page.body[member], asked.get("after"))})
    pages = [capture for capture in routes if _cursor(capture.asked) == _cursor(asked)]
    return max(pages, key=lambda capture: len(capture.asked), default=None)


def beyond(items: list[dict[str, Any]], after: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The items of a history strictly after a cursor; record times have six digits, so their text is in order."""
    place = (after["after_migration_id"], after["after_record_time"]) if after else (-1, "")
    return [item for item in items if _place(item) > place]


def _place(item: dict[str, Any]) -> tuple[int, str]:
    item = item.get("verdict") or item.get("update") or item
    return item.get("event", item)["migration_id"], item["record_time"]


def _cursor(asked: dict[str, Any]) -> dict[str, str]:
    return {name: str(asked[name]) for name in CURSORS if asked.get(name) not in (None, "")}
