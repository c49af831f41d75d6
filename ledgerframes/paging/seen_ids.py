"""`SeenIds`: the update ids of one read, to refuse an id that a server shows at two cursors; loads use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor

_Hashes = np.ndarray
#: In a set, small pages are looked up faster than in arrays; arrays take a sixth of the memory.
_RECENT: Final = 4_096


@dataclass
class _Seen:
    """Recent hashes in a set, older ones in a few sorted arrays, each at least twice as long as the next."""

    _recent: set[int] = field(default_factory=set)
    _sorted: list[_Hashes] = field(default_factory=list)

    def known(self, hashes: Sequence[int]) -> _Hashes:
        known = np.zeros(len(hashes), bool)
        if not self._recent.isdisjoint(hashes):
            known = np.fromiter((value in self._recent for value in hashes), bool, len(hashes))
        values = np.fromiter(hashes if self._sorted else (), np.int64)
        for array in self._sorted:
            positions = np.minimum(np.searchsorted(array, values), len(array) - 1)
            known |= array[positions] == values
        return known

    def add(self, hashes: Sequence[int]) -> None:
        self._recent.update(hashes)
        if len(self._recent) < _RECENT:
            return
        # Merged as in a merge sort: one sorted array would have to be copied every time.
        arrays = self._sorted
        arrays.append(np.sort(np.fromiter(self._recent, np.int64, len(self._recent))))
        self._recent = set()
        while len(arrays) > 1 and len(arrays[-2]) < 2 * len(arrays[-1]):
            last = arrays.pop()
            arrays[-1] = np.sort(np.concatenate([arrays[-1], last]))


@dataclass
class SeenIds:
    """Hashes of ids, and of ids with their cursors, 16 bytes per update.

    An update that is read twice has the same cursor; an id with another cursor is repeated.
    """

    endpoint: str = "POST /v2/updates"
    _ids: _Seen = field(default_factory=_Seen)
    _placed: _Seen = field(default_factory=_Seen)

    def check(self, update_ids: Sequence[str], cursors: Sequence[Cursor]) -> None:
        """Add the updates of a page.

        Raises:
            PagingError: an update has been shown at another cursor.
        """
        # Hashes of 64 bits instead of the texts, which take many times the memory over a long history.
        ids = [*map(hash, update_ids)]
        placed = [*map(hash, zip(update_ids, cursors, strict=True))]
        # An update read again for a tie comes in another page, so a repeat inside one page is always wrong.
        known = self._ids.known(ids)
        if len(set(update_ids)) < len(update_ids) or known.any():
            self._refuse_repeated(update_ids, cursors, known & ~self._placed.known(placed))
        self._ids.add(ids)
        self._placed.add(placed)

    def _refuse_repeated(self, update_ids: Sequence[str], cursors: Sequence[Cursor], elsewhere: _Hashes) -> None:
        counts = Counter(update_ids)
        twice = np.fromiter((counts[update_id] > 1 for update_id in update_ids), bool, len(update_ids))
        repeated = elsewhere | twice
        if repeated.any():
            first = int(np.argmax(repeated))
            raise at_two_places(self.endpoint, update_ids[first], cursors[first])


def at_two_places(endpoint: str, update_id: str, cursor: Cursor) -> PagingError:
    """The error of a server that shows an update at a cursor and at another one."""
    return PagingError(
        f"{endpoint}: update {update_id} is shown at {cursor} and at another cursor; an update has one. Compare the"
        " server with another one by lf.cross_check"
    )
