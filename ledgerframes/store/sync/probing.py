"""`Prober` finds a server's newest items, so that its pages can be final, and where a long interval is cut.

Where to look is a guess, by the clock or by growing steps. What the server shows there is the proof. Fetchers call it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.errors import DecodeError, PagingError, RequestError
from ledgerframes.interfaces.history_pages import PageSource
from ledgerframes.loaders.extent import first_cursors, newest_of
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import Interval
from ledgerframes.timestamps import LATEST

_log = logging.getLogger("ledgerframes.store")
_STEPS: Final = 12  # of factor 16, from a page or a minute to all the years there are
_FACTOR: Final = 16
_SECOND: Final = 1_000_000


@dataclass
class Prober:
    """Probes servers; any thread may use it.

    Attributes:
        source: the servers.
        proofs: records what they show.
        now: the clock's time in microseconds, where the search starts.
        newest: the newest migration known.
    """

    source: PageSource
    proofs: Proofs
    now: int
    newest: int
    _ends: dict[str, int] = field(default_factory=dict)

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
            beyond = first_after(self.source, Cursor(interval.migration_id, interval.hi), self.proofs)
            if beyond is not None and beyond.migration_id == interval.migration_id:
                return interval.hi
        newest = newest_of(None, self.source, Cursor(interval.migration_id, interval.lo))
        first_after(self.source, before(newest), self.proofs)  # so that no worker searches for a proof of its own
        return min(newest.micros, interval.hi)

    def _first_after(self, server: str, after: Cursor) -> Cursor | None:
        try:
            return first_after(self.source, after, self.proofs, server=server)
        except (RequestError, DecodeError) as error:  # a damaged answer to a probe proves as little as a lost one
            if len(self.source.servers) == 1:
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


def first_after(
    source: PageSource, after: Cursor | None, proofs: Proofs, *, server: str | None = None
) -> Cursor | None:
    """The cursor of the first item after another cursor, as a server shows it.

    Args:
        source: the servers.
        after: the cursor to start after; None means the beginning of the ledger.
        proofs: records what is shown.
        server: the server; by default the one that the transport prefers.

    Raises:
        PagingError: the server ignores the cursor.
    """
    # A named server is asked once; the only server gets the usual retries.
    named = server if len(source.servers) > 1 else None
    answer = source.send_page(PageQuery(after, 1), server=named)
    cursors = answer.value.page_index.cursors
    if not cursors:
        if proofs.contradicts(answer.server, after):
            proofs.lose(answer.server)
        return None
    if after is not None and cursors[0] <= after:
        raise ignores_cursor(source, answer.server, after, cursors[0])
    proofs.saw(answer.server, cursors)
    return cursors[0]


def migrations_after(source: PageSource, after: Cursor | None, proofs: Proofs) -> Iterator[Cursor]:
    """The first cursor of every migration after a cursor; sends one request per migration, and one more."""
    return first_cursors(source, after, lambda place: first_after(source, place, proofs))


def ignores_cursor(source: PageSource, server: str, after: Cursor, shown: Cursor) -> PagingError:
    """The error for a server that sent an item which does not follow the cursor it was asked for."""
    return PagingError(
        f"{source.history.endpoint}: asked for what follows {after}, {server} sent an update at {shown}; it ignores the"
        " cursor"
    )
