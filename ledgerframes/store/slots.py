"""What a store's history covers, as its Delta logs say it; `history` reads and writes these numbers.

A table keeps its covered stretches in numbered slots: for slot n the log holds `slot/n/migration`, `slot/n/lo` and
`slot/n/at`, set in the commit that carries the rows. Numbers have no gaps over the tables together, because a log
tells a number by its name but cannot list the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ledgerframes.store.delta import DeltaStoreTable
from ledgerframes.store.intervals import Interval, beyond, intersection, merged

_FREE = Interval(0, 0, 0)


@dataclass
class Slots:
    """The slots of the history's tables.

    Attributes:
        by_table: for each table its slots by number; None where the table lacks one.
    """

    by_table: dict[str, list[Interval | None]] = field(default_factory=dict)

    @classmethod
    def read(cls, tables: Sequence[DeltaStoreTable]) -> Slots:
        """Read the slots of the tables as last refreshed."""
        slots = cls({table.name: [] for table in tables})
        number = 0
        while any((row := {table.name: _read(table, number) for table in tables}).values()):
            for name, interval in row.items():
                slots.by_table[name].append(interval)
            number += 1
        return slots

    def covered(self, name: str) -> tuple[Interval, ...]:
        """What one table covers."""
        return merged(slot for slot in self.by_table[name] if slot is not None)

    @property
    def common(self) -> tuple[Interval, ...]:
        """What all tables cover: the part that readers see."""
        names = iter(self.by_table)
        found = self.covered(next(names))
        for name in names:
            found = intersection(found, self.covered(name))
        return found

    def ahead(self, name: str) -> tuple[Interval, ...]:
        """What a table got before a crash that others did not: rows it must not get again."""
        return beyond(self.covered(name), self.common)

    @property
    def count(self) -> int:
        """How many numbers are taken."""
        return max((len(slots) for slots in self.by_table.values()), default=0)

    def to_extend(self, gap: Interval) -> int | None:
        """The slot that ends where a gap begins, in all tables at least."""
        for number in range(self.count):
            row = [slots[number] for slots in self.by_table.values()]
            known = [slot for slot in row if slot is not None and slot.lo < slot.at]
            if len(known) < len(row) or len({(slot.migration_id, slot.lo) for slot in known}) > 1:
                continue
            if known[0].migration_id == gap.migration_id and min(slot.at for slot in known) == gap.lo:
                return number
        return None

    def free(self) -> int:
        """A number that no table uses."""
        for number in range(self.count):
            if all(slots[number] in {None, _FREE} for slots in self.by_table.values()):
                return number
        return self.count

    def put(self, number: int, interval: Interval) -> None:
        """Note a slot's new extent; a table that is ahead in this slot stays ahead."""
        for slots in self.by_table.values():
            slots.extend([None] * (number + 1 - len(slots)))
            old = slots[number]
            same = old is not None and old.migration_id == interval.migration_id and old.lo == interval.lo
            slots[number] = interval._replace(at=max(interval.at, old.at)) if same and old else interval

    def numbers(self, name: str, changed: Sequence[int]) -> dict[str, int]:
        """What the log of a table has to say about some slots."""
        numbers: dict[str, int] = {}
        for number in changed:
            slot = self.by_table[name][number]
            if slot is not None:
                numbers.update(zip(_names(number), slot, strict=True))
        return numbers

    def joined(self) -> Slots | None:
        """The same extents in as few slots as they need, or None if there is nothing to gain or tables differ."""
        extents = self.common
        if len(extents) >= self.count or any(self.covered(name) != extents for name in self.by_table):
            return None
        rest = [_FREE] * (self.count - len(extents))
        return Slots({name: [*extents, *rest] for name in self.by_table})


def _names(number: int) -> tuple[str, str, str]:
    return f"slot/{number}/migration", f"slot/{number}/lo", f"slot/{number}/at"


def _read(table: DeltaStoreTable, number: int) -> Interval | None:
    values = [table.number(name) for name in _names(number)]
    return None if None in values else Interval(*(value for value in values if value is not None))
