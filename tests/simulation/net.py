"""The simulated network: `PageSource` over simulated servers, with what transport does of retries and failover.

`SimNet` stands in for `Network` in `run_sync`: its `scan` answers with real pages of JSON, `stats` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Never

import msgspec

from ledgerframes.config.settings import Settings
from ledgerframes.errors import DecodeError, LedgerframesError, NoAnswerError, RequestError, ServerError, StatusError
from ledgerframes.interfaces.history_pages import Smaller, learn_largest, named_maximum
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, HistoryPage, PagedHistory
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.scan_objects import ObjectRef, UpdateObjects
from ledgerframes.paging.modes import PageQuery
from ledgerframes.stopping import Stop
from ledgerframes.transport import Answer, Stats
from tests.simulation.choices import Choices
from tests.simulation.clock import SimClock
from tests.simulation.object_net import ObjectSender
from tests.simulation.servers import Fleet, Server
from tests.simulation.storage import Disk
from tests.simulation.stored_as import OF_VERDICTS, UPDATES, StoredAs
from tests.simulation.world import Item, U, ago

ATTEMPTS = 8
#: A sync of so small a world needs far less.
MOST_REQUESTS = 400


@lru_cache(4096)
def _page(
    items: tuple[Item, ...], stored_as: StoredAs, read: Callable[..., HistoryPage], history: PagedHistory
) -> HistoryPage:
    """A page as the scan interface reads it; the same answer comes many times in a history."""
    return read(stored_as.body(items), history)


class Endless(BaseException):
    """A sync sent more requests than any needs."""


@dataclass(frozen=True)
class Seen:
    """One answer, for the invariants.

    Attributes:
        url: who answered.
        after: what was asked to be skipped.
        size: how many items were asked for.
        items: what was answered.
        newest: the latest record time that this server had shown in this sync, this answer included.
        clean: whether the page is what an honest server would send.
        last: whether the server has nothing after it.
        damaged: whether it arrived cut off, so that nothing of it was read.
    """

    url: str
    after: tuple[int, int] | None
    size: int
    items: tuple[Item, ...]
    newest: int
    clean: bool
    last: bool = False
    damaged: bool = False

    def __str__(self) -> str:
        after = "the beginning" if self.after is None else f"{self.after[0]}/{ago(self.after[1])}"
        items = ", ".join(map(str, self.items)) or "nothing"
        return f"{self.url}, {self.size} after {after}: {items}"

    def spans(self, place: tuple[int, int]) -> bool:
        """Whether the answer says all that its server has at a place."""
        if self.size < 2 or (self.after is not None and place <= self.after):
            return False
        # the last place of a full page may have more
        return self.last or (bool(self.items) and place < self.items[-1].place)


class SimScan:
    """The scan interface of one sync.

    Args:
        fleet: the servers and their moves.
        servers: those that this sync names, the preferred one first.
        disk: dies with the machine.
        clock: of the history.
        faults: of the history.
        choices: of the history.

    Attributes:
        of_objects: how many requests were about objects.
    """

    def __init__(
        self,
        fleet: Fleet,
        servers: list[Server],
        disk: Disk,
        *,
        clock: SimClock,
        faults: Collection[str],
        choices: Choices,
        calm: bool = False,
    ) -> None:
        self._fleet = fleet
        self._servers = {server.url: server for server in servers}
        self._order = [server.url for server in servers]
        self._disk = disk
        self._clock = clock
        self.faults = frozenset() if calm else frozenset(faults)
        self.choices = choices
        self._newest: dict[str, int] = {}
        self._down: set[str] = set()
        self._history, self._lenient = UPDATE_HISTORY, False
        self.stats = Stats()
        self.seen: list[Seen] = []
        self.of_objects = 0
        if "down" in self.faults:
            self._down = {url for url in self._order if choices.chance("down", 30)}

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(self._order)

    @property
    def history(self) -> PagedHistory:
        return self._history

    @property
    def _stored_as(self) -> StoredAs:
        return OF_VERDICTS if self._history is EVENT_HISTORY else UPDATES

    @property
    def update_pages(self) -> SimScan:
        return self.pages(UPDATE_HISTORY)

    def pages(self, history: PagedHistory) -> SimScan:
        """The same servers, asked for one of the two histories."""
        twin = copy(self)
        twin._history = history
        return twin

    def leniently(self) -> SimScan:
        """The same, its pages read without the items that have no cursor."""
        twin = copy(self)
        twin._lenient = True
        return twin

    def object_lists(self, **times: Any) -> Iterator[Answer[UpdateObjects]]:
        """The list of objects, read by the real interface."""
        return self._bulk().object_lists(**times)

    def download_object(self, ref: ObjectRef, to: Path) -> Path:
        """Download an object by the real interface."""
        return self._bulk().download_object(ref, to)

    def on(self, server: str) -> SimScan:
        """A server whose digests are asked for: none says any, since each writes its objects at times of its own."""
        del server
        return self

    def object_checksums(self, keys: Sequence[str]) -> Never:
        """Refused, as by a server without them."""
        del keys
        raise StatusError("bulk storage has no digests here", status=501)

    def _bulk(self) -> Scan:
        return Scan(ObjectSender(self))

    def pause(self, seconds: float) -> None:
        self._disk.alive()
        self._clock.sleep(seconds)
        if "catching-up" in self.faults:
            self._fleet.move(50, 30, 20)

    @property
    def largest_pages(self) -> dict[str, int]:
        return self._fleet.maxima

    def stoppable(self, stop: Stop) -> SimScan:
        """Nobody stops a simulated sync from outside; `interrupt` and `kill` end it."""
        del stop
        return self

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[Any]:
        """Ask as `Exchange` does: a named server once, otherwise one after the other until one answers."""
        self._disk.alive()
        read = HistoryPage.read_leniently if self._lenient else HistoryPage.read
        order = [server] if isinstance(server, str) else list(server or self._order)
        for attempt in range(1 if isinstance(server, str) else ATTEMPTS):
            url = order[attempt % len(order)]
            outcome = self._attempt(query, url, read)
            if isinstance(outcome, HistoryPage):
                if attempt:
                    self.prefer(url)
                return Answer(outcome, 200, url, query, len(outcome.raw), 0.0, {})
            error = outcome
            told = error if isinstance(error, RequestError) else NoAnswerError(str(error))
            if (named := named_maximum(told)) is not None:
                learn_largest(self.largest_pages, url, named)
            revised = revise(told) if revise else None
            refused = isinstance(error, StatusError) and error.status < 429
            if revised is not None:
                query = revised
                if refused:
                    order.insert(0, url)
            elif refused:
                raise error
            self.stats.retried()
            self._clock.sleep(0.1)
        raise error

    def _attempt(self, ask: PageQuery, url: str, read: Any) -> HistoryPage | LedgerframesError:
        """Send one request once."""
        self._arrive()
        server = self._servers[url]
        refusal = self._refusal(server, ask)
        if refusal is not None:
            return refusal
        server = self._behind(server)
        if "stepping-back" in self.faults and self.choices.chance("step-back", 8):
            server.restore(server.newest - self.choices.pick("step-back", 8) * U // 2, server.items)
        after = None if ask.after is None else (ask.after.migration_id, ask.after.micros)
        honest = server.page(after, ask.page_size)
        items = self._distorted(server, honest, after, ask.page_size)
        self._newest[url] = max([self._newest.get(url, items[0].at) if items else self._newest.get(url, -(2**62))]
                                + [item.at for item in items])  # fmt: skip
        last = len(honest) == len(server.beyond(after))
        self.seen.append(Seen(url, after, ask.page_size, items, self._newest[url], items == honest, last))
        if "damaged" in self.faults and self.choices.chance("damaged", 8):
            body = self._stored_as.body(items)
            self.seen[-1] = replace(self.seen[-1], damaged=True)
            try:
                read(body[: len(body) // 2])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                return DecodeError(f"the answer of {url} is not whole JSON: {error}")
        return _page(items, self._stored_as, read, self._history)

    def arrive(self, url: str) -> Server:
        """The server that takes a request about objects."""
        self._disk.alive()
        self._arrive()
        self.of_objects += 1
        return next(server for server in self._fleet.servers if server.url == url)

    def is_down(self, server: Server) -> bool:
        """Whether a server gives no answer in this sync."""
        return server.url in self._down

    def prefer(self, url: str) -> None:
        """Ask this server first from now on."""
        self._order.sort(key=lambda other: other != url)

    def maybe_kill(self, stream: str, percent: int) -> None:
        """End the machine, or do not."""
        if "kill" in self.faults and self.choices.chance(stream, percent):
            self._disk.kill()

    def _arrive(self) -> None:
        """What happens at every request."""
        self._clock.sleep(0.01)
        self.stats.received(200, 1)
        if self.stats.requests > MOST_REQUESTS:
            raise Endless(f"{self.stats.requests} requests")
        if "catching-up" in self.faults:
            self._fleet.move(60, 25, 15)
        if self.faults:
            self._fleet.prune(6)
        self.maybe_kill("kill-request", 2)
        if "interrupt" in self.faults and self.choices.chance("interrupt", 5):
            raise KeyboardInterrupt

    def _refusal(self, server: Server, ask: PageQuery) -> LedgerframesError | None:
        """What a server says instead of a page."""
        if server.url in self._down:
            return NoAnswerError(f"{server.url} gave no answer")
        if ask.page_size > server.maximum:
            said = f"Exceeded limit maximum ({ask.page_size} > {server.maximum})."
            return StatusError(said, status=400, detail=said)
        busy = self.choices.weighted("busy", 88, 4, 4, 4) if "busy" in self.faults else 0
        if busy == 1:
            return ServerError("503", status=503, detail="not yet replicated all data")
        if busy == 2:
            return NoAnswerError(f"{server.url} took too long")
        return StatusError("413", status=413) if busy == 3 else None

    def _behind(self, server: Server) -> Server:
        """Whichever of the replicas behind a URL takes the request."""
        replicas = self._fleet.behind.get(server.url)
        if not replicas:
            return server
        taken = self.choices.pick("replica", 1 + len(replicas))
        return [server, *replicas][taken]

    def _distorted(
        self, server: Server, items: tuple[Item, ...], after: tuple[int, int] | None, size: int
    ) -> tuple[Item, ...]:
        """What a server that contradicts itself sends instead."""
        if server.url != self._fleet.servers[0].url:
            return items
        if "ignores-after" in self.faults:
            return server.page(None, size)
        if "never-ending" in self.faults and not items:
            migration = 1 if after is None else after[0] + 1
            made = Item(migration, 20 * U + migration, "A", f"z{migration}")
            server.ever.add(made)
            return (made,)
        if "contradiction" in self.faults and items:
            kind = self.choices.weighted("contradiction", 85, 5, 5, 5)
            if kind == 1:
                return tuple(reversed(items))
            if kind == 2:
                return (*items, items[-1])
            if kind == 3 and after is not None:
                return tuple(sorted({*items, *(item for item in server.shown if item.place == after)}))
        return items


@dataclass(frozen=True)
class SimNet:
    """What `run_sync` needs of a network."""

    scan: SimScan

    is_remote = True
    begins_after = None

    @property
    def stats(self) -> Stats:
        """What was sent in this sync."""
        return self.scan.stats

    @property
    def settings(self) -> Settings:
        """No scan is configured: what names the network is not asked for by an address."""
        return Settings()
