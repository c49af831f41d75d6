"""`SeenIds`: the update ids of one read, to refuse an id that a server shows at two cursors; loads and syncs use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor

_Hashes = np.ndarray


@dataclass
class SeenIds:
    """Hashes of ids, and of ids with their cursors, 16 bytes per update.

    An update that is read twice has the same cursor; an id with another cursor is a repeated one.
    """

    endpoint: str = "POST /v2/updates"
    _ids: list[_Hashes] = field(default_factory=list)
    _placed: list[_Hashes] = field(default_factory=list)

    def check(self, update_ids: Sequence[str], cursors: Sequence[Cursor]) -> None:
        """Add the updates of a page.

        Raises:
            PagingError: an update has been shown at another cursor.
        """
        # Hashes of 64 bits instead of the texts, which take many times the memory over a long history.
        ids = np.fromiter(map(hash, update_ids), np.int64, len(update_ids))
        placed = np.fromiter(map(hash, zip(update_ids, cursors, strict=True)), np.int64, len(update_ids))
        repeated = _known(self._ids, ids) & ~_known(self._placed, placed)
        # An update read again for a tie comes in another page, so a repeat inside one page is always wrong.
        counts = Counter(update_ids)
        repeated |= np.fromiter((counts[update_id] > 1 for update_id in update_ids), bool, len(update_ids))
        if repeated.any():
            first = int(np.argmax(repeated))
            raise PagingError(
                f"{self.endpoint}: update {update_ids[first]} is shown at {cursors[first]} and at another cursor; an"
                " update has one. Compare the server with another one by lf.cross_check"
            )
        _add(self._ids, ids)
        _add(self._placed, placed)

    def has(self, update_ids: Sequence[str], cursors: Sequence[Cursor]) -> list[bool]:
        """Of some updates, whether each was added before, at the same cursor."""
        placed = np.fromiter(map(hash, zip(update_ids, cursors, strict=True)), np.int64, len(update_ids))
        known: list[bool] = _known(self._placed, placed).tolist()
        return known


def _known(chunks: Sequence[_Hashes], values: _Hashes) -> _Hashes:
    known = np.zeros(len(values), bool)
    for chunk in chunks:
        positions = np.minimum(np.searchsorted(chunk, values), len(chunk) - 1)
        known |= chunk[positions] == values
    return known


def _add(chunks: list[_Hashes], values: _Hashes) -> None:
    """Keep a few sorted chunks, each at least twice as long as the one after it."""
    if not len(values):
        return
    # Merged as in a merge sort: one sorted array would have to be copied for every page.
    chunks.append(np.sort(values))
    while len(chunks) > 1 and len(chunks[-2]) < 2 * len(chunks[-1]):
        last = chunks.pop()
        chunks[-1] = np.sort(np.concatenate([chunks[-1], last]))
