"""`Proofs`: proofs that a part of the history is complete; loads and syncs rely on them and on nothing else.

The only assumptions about a server:

1. Every recorded update appears on it, in whichever synchronizer and migration, less than `settle` after its newest
item does. So once it has shown an item of record time n, it has everything at or before n - settle.
2. One URL is one server, and it never shows less than it did. One that is seen to is treated as several: then a page
is proven by nothing but its own items.
3. No update of a migration is recorded later than the first of the next one plus `overlap`.

Hence the rules. A page is final up to the newest record time that *its own server* had shown, in this run before the
request for the page or in the page itself, minus `settle`, minus a microsecond. A proof that comes after the page
proves nothing about it, for the page may have been incomplete when it was sent. Another server's items prove nothing,
and neither does a clock.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import DAY

_log = logging.getLogger("ledgerframes.store")
#: Before everything: the proof of a server that has shown nothing.
NOTHING: Final = -(2**62)
#: How long after the first update of a migration the previous one may still get some: a day, in microseconds.
OVERLAP: Final = DAY


@dataclass(frozen=True)
class Proof:
    """A record of what servers had shown at one moment of a run.

    Attributes:
        newest: by server, the newest record time that it has shown, in microseconds.
        settle: how long after its newest item a server may show an older one, in microseconds.
        broken: the servers that had shown less than before.
    """

    newest: Mapping[str, int]
    settle: int
    broken: Collection[str] = frozenset()

    def of(self, server: str, page: Iterable[Cursor] = ()) -> int:
        """The last record time up to which a page of a server is final.

        Args:
            server: the sender of the page.
            page: the cursors of its items, which prove as much as earlier items.
        """
        newest = max((cursor.micros for cursor in page), default=NOTHING)
        # Minus a microsecond, because an update may appear exactly `settle` after a newer one.
        return max(newest, self.newest.get(server, NOTHING)) - self.settle - 1


@dataclass
class Proofs:
    """The newest items that each server has shown in this run; thread-safe.

    Attributes:
        settle: how long after its newest item a server may show an older one, in microseconds.
        overlap: how long after the first item of a migration the previous one may get more, in microseconds.
    """

    settle: int
    overlap: int = OVERLAP
    _newest: dict[str, int] = field(default_factory=dict)
    _last: dict[str, Cursor] = field(default_factory=dict)
    _broken: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> Proof:
        """The current proofs; call it before requesting a page."""
        with self._lock:
            # Different machines may answer for a URL that has shown less: one proves nothing about another.
            newest = {server: micros for server, micros in self._newest.items() if server not in self._broken}
            return Proof(newest, self.settle, frozenset(self._broken))

    def saw(self, server: str, cursors: Iterable[Cursor]) -> None:
        """Record that a server has shown items at these cursors."""
        cursors = list(cursors)
        if not cursors:
            return
        with self._lock:
            newest = max(cursor.micros for cursor in cursors)
            # Kept by server: taking another server's newest time as proof lost rows in 1 of 190 simulated
            # histories.
            self._newest[server] = max(newest, self._newest.get(server, newest))
            self._last[server] = max(self._last.get(server, cursors[-1]), *cursors)

    def contradicts(self, server: str, after: Cursor | None) -> bool:
        """Whether a server without items after a cursor had shown some there, and so now shows less."""
        with self._lock:
            last = self._last.get(server)
            known = server in self._broken
        return last is not None and not known and (after is None or last > after)

    def lose(self, server: str) -> None:
        """Record that a server shows less than before: from now on each of its pages proves only its own contents.

        Its earlier pages are doubtful, pages requested since are not.
        """
        with self._lock:
            new = server not in self._broken
            self._broken.add(server)
        if new:
            _log.warning(
                "%s shows less than before, as gateways over several scans do: for the rest of this run only the"
                " contents of an answer prove anything about it, and its latest pages are read again later",
                server,
            )

    def proves_ahead(self, server: str) -> bool:
        """Whether the items that a server has shown prove anything about its other pages: it never showed less."""
        with self._lock:
            return server not in self._broken

    @property
    def newest(self) -> int | None:
        """The newest record time that any server has shown."""
        with self._lock:
            return max(self._newest.values(), default=None)

    def closes(self, migration_id: int, following: Cursor) -> int:
        """The last possible record time of a migration, given an item of a later one.

        If ids are skipped, a migration in between may still appear, and each of them allows the overlap.
        """
        return following.micros + self.overlap * (following.migration_id - migration_id)
