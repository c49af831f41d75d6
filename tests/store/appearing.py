"""Servers on which a history appears bit by bit, as it does on real ones; the kill test reads them while it grows.

A sandbox lags by a number of updates in the order of migrations, so it never shows a later migration before the whole
of an earlier one. Here each server has its own time: it shows what all migrations had recorded by then, and some
synchronizers and updates later than that.
"""

from __future__ import annotations

import json
import re
import threading
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import takewhile
from random import Random
from typing import Final, Self

from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.server import Sandbox
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.world import Update, World
from tests.rigs.servers import started

#: An update appears on a server less than this after the server's newest one.
SETTLE: Final = 60 * timestamps.SECOND
#: How far a server can be behind the ledger.
BEHIND: Final = (0, 0, 0, 10, 60, 300)
_LATE: Final = 0.3
_PAUSE: Final = 25 * 3_600 * timestamps.SECOND
_APART: Final = 10
#: How long a segment of objects is; several settle inside of one, and a sync meets several of them.
_SEGMENT: Final = 600 * timestamps.SECOND
#: How often a server prunes when the ledger lives on.
_PRUNES: Final = 0.03
_RECORD_TIME: Final = re.compile(rb'"record_time":"[^"]+"')


def with_pauses(updates: Sequence[Update]) -> list[Update]:
    """The same history over a longer time, with 25 hours without an update in every later migration.

    In a pause a server shows items that are late by the whole of `settle` before anything newer, and the migration
    before closes. It lies where that migration is over and the following one has not begun: what follows a pause is
    later than the day by which migrations may overlap.
    """
    updates = _overlapping(updates)
    spans = _spans(updates)
    cuts = []
    for migration_id in sorted(spans)[1:]:
        ended = spans[migration_id - 1][1]
        followed = spans[migration_id + 1][0] if migration_id + 1 in spans else spans[migration_id][1]
        cuts.append((ended + followed) // 2)
    moved = [_moved(update, _PAUSE * bisect_right(cuts, update.record_time)) for update in updates]
    spans = _spans(moved)
    assert all(spans[one][1] <= spans[one + 1][0] + OVERLAP for one in spans if one + 1 in spans), spans
    return moved


def _overlapping(updates: Sequence[Update]) -> list[Update]:
    """The same history with longer distances, each migration beginning when three fifths of the one before are over.

    Made-up updates lie seconds apart; so a minute of them would be most of a small history.
    """
    spans = _spans(updates)
    begins = {min(spans): 0}
    for migration_id in sorted(spans)[1:]:
        first, last = spans[migration_id - 1]
        begin = begins[migration_id - 1] + (last - first) * 3 // 5
        if migration_id - 2 in spans:  # is over by then, so that the one between can pause
            first, last = spans[migration_id - 2]
            begin = max(begin, begins[migration_id - 2] + (last - first) * 11 // 10)
        begins[migration_id] = begin
    origin = min(first for first, _ in spans.values())
    moved = []
    for update in updates:
        inside = update.record_time - spans[update.migration_id][0] + begins[update.migration_id]
        moved.append(_moved(update, origin + _APART * inside - update.record_time))
    return moved


def _spans(updates: Sequence[Update]) -> dict[int, tuple[int, int]]:
    """The first and the last record time of each migration."""
    spans: dict[int, tuple[int, int]] = {}
    for update in updates:
        first, last = spans.get(update.migration_id, (update.record_time,) * 2)
        spans[update.migration_id] = min(first, update.record_time), max(last, update.record_time)
    return spans


def _moved(update: Update, by: int) -> Update:
    record_time = update.record_time + by
    stated = b'"record_time":"%s"' % timestamps.exact(record_time).encode()
    return update._replace(record_time=record_time, rendered=_RECORD_TIME.sub(stated, update.rendered))


class Showing:
    """One server: what it has shown it goes on showing.

    Args:
        updates: the whole history.
        synchronizers: the ledger's.
        rng: draws what is late here, and by how much.
    """

    def __init__(self, updates: Sequence[Update], synchronizers: Sequence[str], rng: Random) -> None:
        slow = {one: rng.choice([0, rng.randrange(SETTLE)]) for one in synchronizers}
        late = [rng.randrange(SETTLE) if rng.random() < _LATE else 0 for _ in updates]
        self._coming = sorted(
            (
                (one.record_time + max(slow[one.synchronizer_id], by), one)
                for one, by in zip(updates, late, strict=True)
            ),
            reverse=True,
        )
        self._world = World(synchronizers=synchronizers, grow=lambda _: None)
        self._world.snapshot_period = _SEGMENT
        self.behind = 0
        self.begin = (-1, 0)  # it has pruned what lies before
        self.sandbox: Sandbox = started(world=self._world, page_maximum=rng.choice([40, 200, 1_000]), latency=0.001)

    def advance(self, clock: int) -> None:
        """Show what has appeared here when the ledger's clock says so."""
        found = []
        while self._coming and self._coming[-1][0] <= clock - self.behind:
            found.append(self._coming.pop()[1])
        self._world.record(found)

    def prune(self, kept: int) -> None:
        """Keep so many updates at least, whatever may still be followed by a late one before it, and never less."""
        shown = sorted(_place(update) for update in self._world.updates)
        newest = max((micros for _, micros in shown), default=0)
        old = list(takewhile(lambda place: place[1] < newest - SETTLE, shown[:-kept]))
        coming = min((_place(update) for _, update in self._coming), default=shown[-1:] and shown[-1])
        if not old or coming < (begin := shown[len(old)]) or begin <= self.begin:
            return
        self.begin = begin
        self.sandbox.prune(before=(begin[0], timestamps.exact(begin[1])))


class Appearing:
    """A ledger with overlapping migrations, and servers that show it; a context manager that stops them.

    Args:
        seed: what chance starts from.
        updates: how many the history has in the end.
        servers: how many servers there are.
        keeps: how many updates servers keep at least, each by itself; None if they prune nothing.

    Attributes:
        truth: the whole history in the order of record times.
    """

    def __init__(self, *, seed: int, updates: int, servers: int, keeps: int | None = None) -> None:
        self._rng = Random(seed)
        self._keeps = keeps
        world = generate(seed, updates, migrations=3)
        self.truth = sorted(with_pauses(world.updates), key=lambda update: update.record_time)
        self._times = [update.record_time for update in self.truth]
        self._open = ExitStack()
        self._lock = threading.Lock()
        self.shown = 0
        self.servers = [Showing(self.truth, world.synchronizers, self._rng) for _ in range(servers)]
        for server in self.servers:
            self._open.enter_context(server.sandbox)

    def until(self, count: int) -> None:
        """Let the ledger live on until so many updates are recorded, and a while longer."""
        with self._lock:
            self.shown = max(self.shown, min(count, len(self.truth)))
            if not self.shown:
                return  # else the clock of the last update would show the whole history
            clock = self._times[self.shown - 1] + self._rng.randrange(SETTLE)
            for server in self.servers:
                server.advance(clock)
                if self._keeps is not None and self._rng.random() < _PRUNES:
                    server.prune(self._rng.randrange(self._keeps, 3 * self._keeps))

    def fall_behind(self) -> None:
        """Draw anew how far each server is behind; what it has shown stays."""
        for server in self.servers:
            server.behind = self._rng.choice(BEHIND) * timestamps.SECOND

    def show_everything(self) -> None:
        """Let every server show the whole history, without faults."""
        with self._lock:
            self.shown = len(self.truth)
            for server in self.servers:
                server.behind = 0
                server.sandbox.faults = None
                server.advance(self._times[-1] + SETTLE)

    @property
    def left(self) -> set[str]:
        """The updates that some server still has."""
        begin = min(server.begin for server in self.servers)
        return {update.update_id for update in self.truth if _place(update) >= begin}

    def bring_back(self) -> None:
        """Let every server show what it has pruned."""
        for server in self.servers:
            server.sandbox.prune()

    def fail(self, faults: str) -> None:
        """Let every server fail now and then."""
        for server in self.servers:
            server.sandbox.faults = Faults.parse(faults, seed=self._rng.randrange(1_000_000))

    @property
    def now(self) -> int:
        """The newest record time of the ledger, in microseconds."""
        return self._times[max(self.shown, 1) - 1]

    @property
    def downloads(self) -> int:
        """How many objects the servers have given."""
        counts = (server.sandbox.requests for server in self.servers)
        return sum(count for one in counts for name, count in one.items() if "/bulk/download/" in name)

    def urls(self) -> list[str]:
        """The servers' scans, in an order drawn anew."""
        urls = [server.sandbox.scan_url for server in self.servers]
        return self._rng.sample(urls, len(urls))

    def event_ids(self) -> dict[str, set[str]]:
        """The ids of all events by their update, read from the items themselves."""
        return {update.update_id: _events_of(json.loads(update.rendered)) for update in self.truth}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _place(update: Update) -> tuple[int, int]:
    return update.migration_id, update.record_time


def _events_of(item: dict[str, object]) -> set[str]:
    events = item.get("events_by_id", {})
    assert isinstance(events, dict)
    return set(events)
