"""`Slots`: what a store's history covers, as its Delta logs record it; `HistoryTables` reads and writes it.

A table keeps its covered intervals in numbered slots: for slot n the log holds `slot/n/migration`, `slot/n/lo`,
`slot/n/at`, `slot/n/settled` and `slot/n/ended`, set in the commit that carries the rows. Numbers have no gaps over
all tables together, because a log can be asked for a name but cannot list the names.

Beside the slots the log holds `format`, which a version that does not know it refuses; `commit` and `added`, which
count commits, so that tables that a crash left apart can be told from those in step; `taken`, which counts how often a
repair took out what was final; `changed/…`, where final rows were added or taken out (see `changes`); and
`begins/migration`, `begins/lo` and `begins/proof`, where servers had nothing older (see `Begin`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import Final, NamedTuple

from ledgerframes.errors import StoreError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.changes import Changes, Instant
from ledgerframes.store.coverage import Interval, beyond, intersection, merged
from ledgerframes.store.delta.table import DeltaStoreTable

#: The format of the numbers that this version writes.
FORMAT: Final = 3
_FORMAT: Final = "format"
_COMMIT: Final = "commit"
_ADDED: Final = "added"
_TAKEN: Final = "taken"
_BEGINS: Final = ("begins/migration", "begins/lo", "begins/proof")
_DOUBT: Final = ("doubt/migration", "doubt/lo")


class Begin(NamedTuple):
    """Where what servers had began: a slot reaches back to where the ledger begins only if that is proven.

    Attributes:
        migration_id: of the slot that begins there, as for `lo`.
        lo: what lies after it was there.
        proof: 2 if the ledger begins there, 1 if older items existed once, 0 if neither is known.
    """

    migration_id: int
    lo: int
    proof: int

    @property
    def proven(self) -> bool | None:
        """Whether the ledger begins there; None where that is not known."""
        return None if not self.proof else self.proof > 1

    @property
    def late(self) -> Cursor | None:
        """The first item that was there, where older ones are known to have existed."""
        return Cursor(self.migration_id, self.lo + 1) if self.proven is False else None


class Slot(NamedTuple):
    """One covered interval: (lo, hi] holds rows, (lo, settled] is final; `ended` is 1 if servers had nothing more."""

    migration_id: int
    lo: int
    hi: int
    settled: int
    ended: int = 0

    @property
    def covered(self) -> Interval:
        """The interval that holds rows."""
        return Interval(self.migration_id, self.lo, self.hi)

    @property
    def final(self) -> Interval:
        """The interval in which rows are final."""
        return Interval(self.migration_id, self.lo, self.settled)


# A log can change a number and not remove it, so a slot that is not needed is recorded as an empty interval.
_FREE: Final = Slot(0, 0, 0, 0)


@dataclass
class Slots:
    """The slots of the history's tables.

    Attributes:
        by_table: for each table its slots by number; None where the table lacks one.
        commits: for each table, a count of its commits.
        additions: for each table, how often rows were added below what is settled.
        begins: where servers had nothing older, the earliest that each table knows of.
        doubt: migration and record time after which an update may be there in part, while tables are apart.
        takings: for each table, how often final rows were taken out of it.
        changes: for each table, where final rows were added or taken out.
    """

    by_table: dict[str, list[Slot | None]] = field(default_factory=dict)
    commits: dict[str, int] = field(default_factory=dict)
    additions: dict[str, int] = field(default_factory=dict)
    begins: tuple[Begin, ...] = ()
    doubt: tuple[int, int] | None = None
    takings: dict[str, int] = field(default_factory=dict)
    changes: dict[str, Changes] = field(default_factory=dict)

    @classmethod
    def read(cls, tables: Sequence[DeltaStoreTable]) -> Slots:
        """Read the slots of the tables as last refreshed.

        Raises:
            StoreError: a newer version wrote them.
        """
        for table in tables:
            _check_format(table)
        slots = cls(
            {table.name: [] for table in tables},
            {table.name: table.number(_COMMIT) or 0 for table in tables},
            {table.name: table.number(_ADDED) or 0 for table in tables},
            tuple(sorted({begin for table in tables if (begin := _begin(table)) is not None})),
            min((doubt for table in tables if (doubt := _doubt(table)) is not None), default=None),
            {table.name: table.number(_TAKEN) or 0 for table in tables},
            {table.name: Changes.read(table.number) for table in tables},
        )
        number = 0
        while any((row := {table.name: _read(table, number) for table in tables}).values()):
            for name, slot in row.items():
                slots.by_table[name].append(slot)
            number += 1
        slots.doubt = None if slots.in_step else min((interval[:2] for interval in slots.doubtful), default=None)
        return slots

    def copy(self) -> Slots:
        """The same, to be compared with later."""
        return replace(
            self, by_table={name: list(slots) for name, slots in self.by_table.items()}, commits=dict(self.commits)
        )

    def says_the_same_as(self, other: Slots) -> bool:
        """Whether the same is covered, final and ended, in whatever slots."""
        return all(
            self.covered(name) == other.covered(name) and self.final(name) == other.final(name)
            for name in self.by_table
        ) and (self.ended, self.begins, self.commits) == (other.ended, other.begins, other.commits)

    def covered(self, name: str) -> tuple[Interval, ...]:
        """What one table covers."""
        return merged(slot.covered for slot in self.by_table[name] if slot is not None)

    def final(self, name: str) -> tuple[Interval, ...]:
        """Where the rows of one table are final, as far as it is concerned."""
        return merged(slot.final for slot in self.by_table[name] if slot is not None)

    @property
    def common(self) -> tuple[Interval, ...]:
        """What all tables cover: readers see this."""
        return _shared(self.covered(name) for name in self.by_table)

    @property
    def settled(self) -> tuple[Interval, ...]:
        """Where the rows of all tables are final."""
        return _shared(self.final(name) for name in self.by_table)

    @property
    def begin(self) -> Begin | None:
        """Where what all tables cover begins, if that is because servers had nothing older."""
        first = [interval[:2] for interval in self.common[:1]]
        return next((begin for begin in reversed(self.begins) if begin[:2] in first), None)

    def note_begins(self, begins: Iterable[Begin]) -> None:
        """Note where servers had nothing older; of these places the one counts where the coverage begins."""
        before, self.begins = self.begins, tuple(sorted({*self.begins, *begins}))
        self.begins = (before or self.begins) if self.begin is None else (self.begin,)

    @property
    def doubtful(self) -> tuple[Interval, ...]:
        """Where a killed sync may have left an update in part: nowhere while the tables are in step.

        It begins at the first cursor that was not final in all tables when a sync found them apart, and stays until
        they are in step again, whatever becomes final meanwhile.
        """
        if self.in_step:
            return ()
        covered = merged(interval for name in self.by_table for interval in self.covered(name))
        unsettled = beyond(covered, self.settled)
        begins = [interval[:2] for interval in unsettled] + ([] if self.doubt is None else [self.doubt])
        if not begins:
            return ()
        migration_id, lo = min(begins)
        return merged(
            interval._replace(lo=max(interval.lo, lo)) if interval.migration_id == migration_id else interval
            for interval in covered
            if interval.migration_id >= migration_id
        )

    @property
    def ended(self) -> frozenset[int]:
        """The migrations that were read to where servers had nothing more, in all tables."""
        by_table = [
            {slot.migration_id for slot in slots if slot is not None and slot.ended} for slots in self.by_table.values()
        ]
        return frozenset(set.intersection(*by_table)) if by_table else frozenset()

    @property
    def in_step(self) -> bool:
        """Whether every table has every commit, so that no update can be there in part."""
        return len(set(self.commits.values())) <= 1

    @property
    def added_in_step(self) -> bool:
        """Whether every table has all rows that were added below what is settled."""
        return len(set(self.additions.values())) <= 1

    @property
    def count(self) -> int:
        """How many slot numbers are in use."""
        return max((len(slots) for slots in self.by_table.values()), default=0)

    def to_extend(self, interval: Interval) -> int | None:
        """The number of the slot that an interval continues: in every table it is settled up to the interval's `lo`."""
        for number in range(self.count):
            row = [slots[number] for slots in self.by_table.values()]
            # A table without the slot was behind at a crash; extending the slot there would cover rows that it lacks.
            known = [slot for slot in row if slot is not None and slot.lo < slot.hi]
            if len(known) < len(row) or len({(slot.migration_id, slot.lo) for slot in known}) > 1:
                continue
            # The settled part has to stay contiguous, so only what begins where it ends can continue a slot.
            if (known[0].migration_id, min(slot.settled for slot in known)) == interval[:2]:
                return number
        return None

    def free(self) -> int:
        """A number that no table uses."""
        for number in range(self.count):
            if all(slots[number] in {None, _FREE} for slots in self.by_table.values()):
                return number
        return self.count

    def put(self, number: int, slot: Slot) -> None:
        """Note how far a slot reaches now; what a table has beyond that, it keeps."""
        for slots in self.by_table.values():
            slots.extend([None] * (number + 1 - len(slots)))
            old = slots[number]
            key = (slot.migration_id, slot.lo)
            if old is not None and (old.migration_id, old.lo) == key:
                slot_here = Slot(*key, max(slot.hi, old.hi), max(slot.settled, old.settled), max(slot.ended, old.ended))
            else:
                slot_here = slot
            slots[number] = slot_here

    def uncover(self, name: str, intervals: Sequence[Interval]) -> list[int]:
        """Take intervals out of what one table covers; gives the numbers of the slots that changed."""
        final = intersection(intervals, self.final(name))
        if final:
            before = self.changed(name)
            self.takings[name] += 1
            self._note(name, before, final[0][:2])
        changed: list[int] = []
        for number, slot in enumerate(tuple(self.by_table[name])):
            left = [] if slot is None else _without(slot, intervals)
            if slot is None or left == [slot]:
                continue
            keeps = bool(left) and left[0].lo == slot.lo
            self.by_table[name][number] = left[0] if keeps else _FREE
            changed.append(number)
            for slot_left in left[1:] if keeps else left:
                changed.append(self.count)
                for slots in self.by_table.values():
                    slots.extend([None] * (changed[-1] + 1 - len(slots)))
                self.by_table[name][changed[-1]] = slot_left
        return changed

    def changed(self, name: str) -> int:
        """How often final rows were added to a table, or taken out of it."""
        return self.additions[name] + self.takings[name]

    def count_additions(self, name: str, count: int, instant: Instant | None = None) -> None:
        """Set how often rows were added to a table below what is settled.

        Args:
            name: of the table.
            count: how often.
            instant: rows were added after it; None if none were.
        """
        before = self.changed(name)
        self.additions[name] = count
        self._note(name, before, instant)

    def _note(self, name: str, before: int, instant: Instant | None) -> None:
        self.changes[name] = self.changes.get(name, Changes()).counted(before, self.changed(name), instant)

    def numbers(self, name: str, changed: Iterable[int]) -> dict[str, int]:
        """The numbers that the log of a table has to record for some slots, and beside them."""
        numbers = {_FORMAT: FORMAT, _COMMIT: self.commits[name], _ADDED: self.additions[name]}
        if self.takings.get(name):
            numbers[_TAKEN] = self.takings[name]
        if self.begins:
            numbers.update(zip(_BEGINS, self.begin or self.begins[0], strict=True))
        if self.doubt is not None and not self.in_step:
            numbers.update(zip(_DOUBT, self.doubt, strict=True))
        for number in changed:
            slot = self.by_table[name][number]
            if slot is not None:
                numbers.update(zip(_names(number), slot, strict=True))
        return numbers

    def joined(self) -> Slots | None:
        """The same in as few slots as possible; None if there is nothing to gain, or the tables differ."""
        covered, settled = self.common, self.settled
        if any(self.covered(name) != covered or self.final(name) != settled for name in self.by_table):
            return None
        slots = fewest(covered, settled, self.ended)
        if len(slots) >= sum(slot not in {None, _FREE} for slot in next(iter(self.by_table.values()), [])):
            return None
        rest = [_FREE] * (self.count - len(slots))
        return Slots(
            {name: [*slots, *rest] for name in self.by_table},
            dict(self.commits),
            dict(self.additions),
            self.begins,
            takings=dict(self.takings),
            changes=dict(self.changes),
        )


def fewest(
    covered: Iterable[Interval], settled: Iterable[Interval], ended: Collection[int] = frozenset()
) -> list[Slot]:
    """The slots for what is covered and settled; a slot ends where another settled interval begins."""
    slots: list[Slot] = []
    for interval in merged(covered):
        final = intersection([interval], settled)
        bounds = [interval.lo, *(inner.lo for inner in final if inner.lo > interval.lo), interval.hi]
        ends = {inner.lo: inner.hi for inner in final}
        slots += [Slot(interval.migration_id, lo, hi, ends.get(lo, lo)) for lo, hi in pairwise(bounds)]
    last = {slot.migration_id: position for position, slot in enumerate(slots)}
    return [
        slot._replace(ended=int(last[slot.migration_id] == position and slot.migration_id in ended))
        for position, slot in enumerate(slots)
    ]


def _without(slot: Slot, intervals: Sequence[Interval]) -> list[Slot]:
    """What is left of a slot; only what follows its beginning without a break is still settled."""
    return [
        Slot(
            *left, max(min(slot.settled, left.hi), left.lo), slot.ended if left.hi == slot.hi else 0
        )
        for left in beyond([slot.covered], intervals)
    ]  # fmt: skip


def _shared(by_table: Iterable[tuple[Interval, ...]]) -> tuple[Interval, ...]:
    tables = list(by_table)
    return reduce(intersection, tables) if tables else ()


def claims(table: DeltaStoreTable) -> bool:
    """Whether the log of a table says that a sync has committed to it.

    The first slot would not do: after a kill another table may be the only one that has it.
    """
    return table.number(_COMMIT) is not None


def _names(number: int) -> tuple[str, ...]:
    return tuple(f"slot/{number}/{name}" for name in ("migration", "lo", "at", "settled", "ended"))


def _read(table: DeltaStoreTable, number: int) -> Slot | None:
    migration, *others = _names(number)
    migration_id = table.number(migration)
    if migration_id is None:  # every number is a look into the log, so a slot that is not there costs one
        return None
    lo, hi, settled, ended = map(table.number, others)
    if lo is None or hi is None or settled is None:
        return None
    return Slot(migration_id, lo, hi, settled, ended or 0)


def _doubt(table: DeltaStoreTable) -> tuple[int, int] | None:
    migration_id, lo = map(table.number, _DOUBT)
    return None if migration_id is None or lo is None else (migration_id, lo)


def _begin(table: DeltaStoreTable) -> Begin | None:
    numbers = [table.number(name) for name in _BEGINS]
    return None if None in numbers else Begin(*(number or 0 for number in numbers))


def _check_format(table: DeltaStoreTable) -> None:
    written = table.number(_FORMAT)
    # Another format may give the numbers another meaning, and a commit by this version would damage the coverage.
    if written != FORMAT and (written is not None or table.number(_names(0)[0]) is not None):
        raise StoreError(
            f"{table.url}: another version of ledgerframes wrote this store (format {written or 1}, this version reads"
            f" {FORMAT}); install that version, or sync into a new store"
        )
