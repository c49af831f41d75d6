"""`ObjectSender`: the transport under the real `Scan` of a simulated sync, for lists of objects and their downloads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from ledgerframes.errors import LedgerframesError, NoAnswerError, NotFoundError, ServerError
from ledgerframes.timestamps import parse_timestamp
from ledgerframes.transport import Answer
from tests.simulation.objects import Written
from tests.simulation.servers import Server
from tests.simulation.world import BASE

if TYPE_CHECKING:
    from tests.simulation.net import SimScan

ATTEMPTS = 4
#: Segments on a page of a list.
_A_PAGE = 2


class ObjectSender:
    """What `Scan` needs of a `Sender` for objects.

    Args:
        scan: the simulated servers.
        among: those to ask; all by default.
    """

    def __init__(self, scan: SimScan, among: tuple[str, ...] = ()) -> None:
        self._scan = scan
        self._among = among

    def on(self, *servers: str) -> ObjectSender:
        """The same to some servers."""
        return ObjectSender(self._scan, servers)

    def servers(self, _interface: str) -> tuple[str, ...]:
        return self._among or self._scan.servers

    def send(self, request: Any, *, read: Any, sink: Any = None) -> Any:
        """Fetch an object, or ask for a page of a list."""
        return self._list(request, read) if sink is None else self._download(request.url, sink)

    def _list(self, request: Any, read: Any) -> Answer[Any]:
        """Ask for a page: a server that does not know the path sends the client on, one that says 501 not."""
        scan = self._scan
        order = list(self._among or scan.servers)
        error: LedgerframesError = NoAnswerError("nobody was asked")
        for attempt in range(ATTEMPTS if len(order) == 1 else 2 * len(order)):
            if not order:
                break
            url = order[attempt % len(order)]
            outcome = self._attempt(scan.arrive(url), request, read)
            if not isinstance(outcome, LedgerframesError):
                if attempt:
                    scan.prefer(url)
                return Answer(outcome, 200, url, request, 0, 0.0, {})
            error = outcome
            scan.stats.retried()
            if isinstance(outcome, NotFoundError):
                order.remove(url)
            elif isinstance(outcome, ServerError) and outcome.status == 501:
                raise outcome
        raise error

    def _attempt(self, server: Server, request: Any, read: Any) -> Any:
        scan = self._scan
        if server.bulk is None or not server.bulk.served:
            if server.knows_the_route is None:  # by its release, so it stays the same
                server.knows_the_route = scan.choices.chance("no-objects", 50)
            if server.knows_the_route:
                return ServerError("501", status=501)
            return NotFoundError("404", status=404, unknown_route=True)
        trouble = self._trouble(server, "list")
        if isinstance(trouble, LedgerframesError):
            return trouble
        body = _page(server, json.loads(request.content))
        try:
            return read(body[: len(body) // 2] if trouble else body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return NoAnswerError(f"a list is not whole JSON: {error}")

    def _trouble(self, server: Server, stream: str) -> LedgerframesError | bool:
        """An error, or whether the answer arrives cut off."""
        scan = self._scan
        if scan.is_down(server):
            return NoAnswerError(f"{server.url} gave no answer")
        kind = scan.choices.weighted(stream, 80, 8, 6, 6) if "busy-objects" in scan.faults else 0
        if kind == 1:
            return ServerError("503", status=503)
        return NoAnswerError(f"{server.url} took too long") if kind == 2 else kind == 3

    def _download(self, url: str, sink: Any) -> None:
        """Fetch an object, with the retries of the transport."""
        scan = self._scan
        error: LedgerframesError = NoAnswerError("nothing was asked")
        for _ in range(ATTEMPTS):
            server = scan.arrive(url.partition("/api/")[0])
            stored = server.bulk.at(url) if server.bulk else None
            if stored is None or stored.damage == "gone":
                raise NotFoundError("404", status=404)
            trouble = self._trouble(server, "download")
            if not isinstance(trouble, LedgerframesError):
                self._give(stored, sink, cut=trouble)
                return
            if isinstance(trouble, NoAnswerError):  # it was broken off
                sink.begin(len(stored.body))
                sink.write(stored.body[:7])
            error = trouble
            scan.stats.retried()
        raise error

    def _give(self, stored: Written, sink: Any, *, cut: bool) -> None:
        body = stored.body
        half = min(len(stored.frame), len(body))
        sink.begin(None if cut else len(body))
        sink.write(body[:half])
        self._scan.maybe_kill("kill-download", 15)
        if not cut:
            sink.write(body[half:])


def _page(server: Server, asked: dict[str, Any]) -> bytes:
    """A page of a list: whole segments, and where the next page begins; at the end the same token again."""
    assert server.bulk is not None
    after, up_to = (parse_timestamp(asked[f"{name}_record_time"])[0] for name in ("start", "end"))
    token = int(asked.get("next_page_token", "0"))
    left = [one for one in server.bulk.listed(after, up_to) if one.up_to > token]
    page = [one for one in left if one.up_to <= left[:_A_PAGE][-1].up_to]
    refs = [msgspec.to_builtins(stored.ref(server.url)) for one in page for stored in one.objects]
    body: dict[str, Any] = {"object_refs": refs}
    if len(page) < len(left) or up_to > BASE + server.newest:
        body["next_page_token"] = str(page[-1].up_to if page else token)
    return json.dumps(body).encode()
