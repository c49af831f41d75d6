"""The three tables of the update history in a store: what they cover, and rows and coverage committed as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import StoreError
from ledgerframes.store.delta import DeltaStoreTable
from ledgerframes.store.intervals import Interval
from ledgerframes.store.slots import Slots

#: The order of writing: readers see an update only when everything that belongs to it is there.
ORDER: Final = ("events", "reassignments", "updates")
PARTITIONS: Final = ("migration_id", "record_month")

_FILES_A_PARTITION: Final = 100
NETWORK: Final = "ledgerframes.network"


@dataclass(frozen=True)
class Advance:
    """How far one stretch of the history has been read.

    Attributes:
        key: tells the stretches of one sync apart.
        gap: the stretch up to here; its `lo` stays, its `at` grows from commit to commit.
    """

    key: int
    gap: Interval


class HistoryTables:
    """`updates`, `events` and `reassignments` in one store.

    Args:
        tables: the three, by name.
    """

    def __init__(self, tables: Mapping[str, DeltaStoreTable]) -> None:
        self.tables = {name: tables[name] for name in ORDER}
        self.slots = Slots()
        self._numbers: dict[int, int] = {}
        self._files: Counter[tuple[str, ...]] = Counter()

    def refresh(self) -> HistoryTables:
        """Read the newest state of the logs."""
        self.slots = Slots.read([table.refresh() for table in self.tables.values()])
        self._numbers = {}
        self._files = Counter()
        return self

    @property
    def network(self) -> str | None:
        """What tells the store's network from others, or None while nothing was synced."""
        return self.tables["events"].property(NETWORK)

    def prepare(self, network: str) -> None:
        """Make the tables that are missing and check the others, before anything is written."""
        for table in self.tables.values():
            if not table.exists:
                table.create({NETWORK: network})
            table.check_schema()
            self._count_files(table)

    def commit(self, rows: Mapping[str, Sequence[pa.RecordBatch]], advances: Iterable[Advance]) -> None:
        """Write rows and how far they reach: one commit a table, `updates` last.

        Raises:
            StoreError: the storage refused, or another writer was there first; what came before stays.
        """
        changed = [self._put(advance) for advance in advances]
        for name, table in self.tables.items():
            table.append(rows.get(name, ()), self.slots.numbers(name, changed))
            self._compact_by_the_way(table, rows.get(name, ()))

    def add(self, rows: Mapping[str, pa.RecordBatch]) -> None:
        """Add rows of updates inside what is covered; those whose update a table has already are left out."""
        for name, table in self.tables.items():
            batch = rows[name]
            stored = _stored_ids(table, batch["update_id"])
            fresh = batch.filter(pc.invert(pc.is_in(batch["update_id"], stored)))
            if fresh.num_rows:
                table.append([fresh], {})

    def join_slots(self) -> None:
        """Say the same coverage in as few slots as it needs."""
        joined = self.slots.joined()
        if joined is None:
            return
        every = range(self.slots.count)
        self.slots = joined
        self._numbers = {}
        for name, table in self.tables.items():
            table.append((), joined.numbers(name, every))

    def ids_at(self, migration_id: int, micros: int) -> dict[str, frozenset[str]]:
        """For each table, the updates that it holds at one instant."""
        return {name: self._ids_at(table, migration_id, micros) for name, table in self.tables.items()}

    def _ids_at(self, table: DeltaStoreTable, migration_id: int, micros: int) -> frozenset[str]:
        instant = pa.scalar(micros, pa.timestamp("us", "UTC"))
        here = (pc.field("migration_id") == migration_id) & (pc.field("record_time") == instant)
        found = table.dataset().to_table(columns=["update_id"], filter=here)
        return frozenset(found["update_id"].to_pylist())

    def _put(self, advance: Advance) -> int:
        number = self._numbers.get(advance.key)
        gap = advance.gap
        if number is None:
            number = self.slots.to_extend(gap)
            if number is None:
                number = self.slots.free()
                self.slots.put(number, gap)
            self._numbers[advance.key] = number
        started = next(slots[number] for slots in self.slots.by_table.values())
        if started is None:
            raise StoreError(f"slot {number} of the store has no beginning; the log was changed from outside")
        self.slots.put(number, started._replace(at=gap.at))
        return number

    def _count_files(self, table: DeltaStoreTable) -> None:
        for key, count in table.partition_files().items():
            self._files[(table.name, *key)] += count

    def _compact_by_the_way(self, table: DeltaStoreTable, batches: Sequence[pa.RecordBatch]) -> None:
        """Keep the number of files of a partition small, without a word of the caller's."""
        if not batches:
            return
        places = pa.Table.from_batches([batch.select(PARTITIONS) for batch in batches])
        touched = places.group_by(list(PARTITIONS)).aggregate([]).to_pylist()
        for partition in touched:
            place = (table.name, *(str(partition[name]) for name in PARTITIONS))
            self._files[place] += 1
            if self._files[place] > _FILES_A_PARTITION:
                table.compact([(name, "=", str(partition[name])) for name in PARTITIONS])
                self._files[place] = 1


def _stored_ids(table: DeltaStoreTable, wanted: pa.Array) -> pa.Array:
    """Those of some updates that a table has."""
    chosen = pc.field("update_id").isin(pc.unique(wanted))
    found = table.dataset().to_table(columns=["update_id"], filter=chosen)
    return found["update_id"].combine_chunks().cast(pa.string())
