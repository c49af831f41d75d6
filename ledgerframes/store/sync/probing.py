"""`Prober` finds a server's newest items, so that its pages can be final, and where a long interval is cut.

Where to look is a guess, by the clock or by growing steps. What the server shows there is the proof. Fetchers call it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.errors import DecodeError, RequestError
from ledgerframes.loaders.extent import newest_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.timestamps import LATEST

_log = logging.getLogger("ledgerframes.store")
_STEPS: Final = 12  # of factor 16, from a page or a minute to all the years there are
_FACTOR: Final = 16
_SECOND: Final = 1_000_000


@dataclass
class Prober:
    """Probes servers; any thread may use it.

    Attributes:
        servers: the servers.
        now: the clock's time in microseconds, where the search starts.
        newest: the newest migration known.
    """

    servers: AgreedServers
    now: int
    newest: int
    _ends: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.proofs = self.servers.proofs

    def needed(self, server: str, micros: int) -> bool:
        """Whether no part of a page after a record time would be final, and a probe may change that."""
        if not self.proofs.proves_ahead(server) or self.proofs.now().of(server) > micros:
            return False
        end = self._ends.get(server)
        return end is None or micros > end + self.proofs.settle

    def probes(self, server: str, cursor: Cursor) -> Iterator[None]:
        """Search for items as far ahead of a cursor as the server has any; yields after every request."""
        # A server in step with the clock has an item after this, and one request then proves nearly everything.
        aim = self.now - self.proofs.settle - 2 * _SECOND
        beyond = cursor.micros + self.proofs.settle + 1
        if beyond < aim <= LATEST:
            shown = self._first_after(server, Cursor(max(self.newest, cursor.migration_id), aim))
            yield
            if shown is not None:
                return
        for place in _outward(cursor, self.proofs.settle + 1):
            shown = self._first_after(server, place)
            yield
            if shown is None:
                break
        if not self.proofs.now().of(server) > cursor.micros:
            # There is nothing that far ahead, and asking again before every page would be useless.
            self._ends[server] = cursor.micros

    def end_of(self, interval: Interval) -> int:
        """A record time after which an interval, which has an item at its `lo`, had none when servers were asked."""
        if interval.hi < LATEST:  # mostly there is more behind a range that ends at a time: one request shows it
            beyond = self.servers.first_after(Cursor(interval.migration_id, interval.hi))
            if beyond is not None and beyond.migration_id == interval.migration_id:
                return interval.hi
        newest = newest_of(None, self.servers, Cursor(interval.migration_id, interval.lo))
        return min(newest.micros, interval.hi)

    def _first_after(self, server: str, after: Cursor) -> Cursor | None:
        try:
            return self.servers.first_after(after, server=server)
        except (RequestError, DecodeError) as error:  # a damaged answer to a probe proves as little as a lost one
            if len(self.servers.servers) == 1:
                raise
            _log.warning("%s could not be probed: %s", server, error)
            return None


def _outward(cursor: Cursor, step: int) -> Iterator[Cursor]:
    """Places after a cursor, at distances that grow by a factor."""
    for exponent in range(_STEPS):
        micros = cursor.micros + step * _FACTOR**exponent
        if micros > LATEST:
            return
        yield Cursor(cursor.migration_id, micros)
