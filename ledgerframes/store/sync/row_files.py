"""`RowFiles`: a worker stores the rows of a long task as files of the store, so that none of them travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.delta.new_files import NewFile, Place
from ledgerframes.store.sync.fetched import Fetched

#: Bytes of rows in memory that make files.
_BYTES: Final = 64_000_000


@dataclass
class RowFiles:
    """The rows of one task on their way into files; used by one thread.

    Attributes:
        places: where the tables are.
        files: what is stored, by table.
    """

    places: Sequence[Place]
    files: dict[str, list[NewFile]] = field(default_factory=dict)
    _held: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)
    _bytes: int = 0

    def add(self, batches: Mapping[str, pa.RecordBatch]) -> None:
        """Take rows; store what was collected if it is enough.

        Raises:
            StoreError: the storage refused.
        """
        for name, batch in batches.items():
            if batch.num_rows:
                self._held.setdefault(name, []).append(batch)
                self._bytes += batch.nbytes
        if self._bytes >= _BYTES:
            self.store()

    def store(self) -> None:
        """Store what was collected.

        Raises:
            StoreError: the storage refused.
        """
        held, self._held, self._bytes = self._held, {}, 0
        for place in self.places:
            if place.name in held:
                self.files.setdefault(place.name, []).extend(place.store(held[place.name]))

    def remove(self) -> None:
        """Remove what is stored: the task failed."""
        for place in self.places:
            place.remove(self.files.pop(place.name, []))


@dataclass
class Unrepeated:
    """Leaves out updates that a task has read before: the end that is not settled is read again."""

    _recent: list[tuple[int, dict[str, pa.Array]]] = field(default_factory=list)  # ids, by where their pages end
    _settled: int | None = None

    def rows(self, fetched: Fetched) -> dict[str, pa.RecordBatch]:
        """The rows of updates that were not read before; a page has all rows of an update."""
        # What was settled before this page was read cannot be read again.
        settled = fetched.read.lo if self._settled is None else self._settled
        self._recent = [(end, ids) for end, ids in self._recent if end >= settled]
        self._settled = max(settled, fetched.settled)
        again = [ids for end, ids in self._recent if end >= fetched.span.lo]
        fresh, own = {}, {}
        for name, batch in fetched.batches.items():
            ids = batch["update_id"].cast(pa.string())
            own[name] = pc.unique(ids)
            known = [seen[name] for seen in again if name in seen]
            fresh[name] = batch.filter(pc.invert(pc.is_in(ids, pa.concat_arrays(known)))) if known else batch
        if own:
            self._recent.append((fetched.span.hi, own))
        return fresh
