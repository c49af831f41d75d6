"""`Progress`: how far a computed table is computed, as its log records it beside the rows; `derive` reads and sets it.

The log of a computed table holds `derived/version`, the version of its rules; `derived/changes`,
`derived/changes/TABLE` for each table of the history, and `derived/made`, which tell whether the history below changed
since; `derived/begun`, whether it begins at ledger begin; `derived/unknown`, how much was not understood;
`derived/reach/migration` and `derived/reach/hi`, the last instant on which rows can depend; and for each interval n
`derived/n/migration`, `derived/n/lo` and `derived/n/hi`, numbered without a gap. `derived/lost` is the first version
whose entry a repair found empty: states from there on lack its rows.

Every commit sets all of these, so a state that an earlier one left is known by that entry of the log alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ledgerframes.errors import StoreError
from ledgerframes.store.changes import AFTER_ALL, BEFORE_ALL, Changes, Instant
from ledgerframes.store.coverage import BEGINNING, Interval, beyond
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import VERSIONS
from ledgerframes.store.lake import View
from ledgerframes.store.table_sets import HISTORY

_VERSION: Final = "derived/version"
_CHANGES: Final = "derived/changes"
_MADE: Final = "derived/made"
_BEGUN: Final = "derived/begun"
_UNKNOWN: Final = "derived/unknown"
_REACH: Final = ("derived/reach/migration", "derived/reach/hi")
_LOST: Final = "derived/lost"
#: Why a table is computed that was not there yet.
NEW: Final = "new"
#: What a repair records when it takes out files: the table is computed again.
UNSOUND: Final = {_VERSION: 0}


def lacking_from(version: int) -> dict[str, int]:
    """What a repair records when the entry of a version was lost: the table is computed again from an earlier one."""
    return {**UNSOUND, _LOST: version}


def sound_before(numbers: Mapping[str, int]) -> float:
    """The version before which states are sound, as far as one commit tells."""
    return numbers.get(_LOST, math.inf)


@dataclass(frozen=True)
class Basis:
    """The part of the history that tables are computed from.

    Attributes:
        intervals: what is final, one interval per migration, without a gap.
        changes: counts rows added to, and taken out of, what was final.
        made: when the tables of the history were created, summed.
        begun: whether the history begins at ledger begin.
        counts: the same count for each table.
        noted: where they changed.
    """

    intervals: tuple[Interval, ...]
    changes: int
    made: int
    begun: bool
    counts: Mapping[str, int]
    noted: Mapping[str, Changes]

    @classmethod
    def of(cls, view: View, *, final: bool = True) -> Basis:
        """Read it from a state of a store.

        Args:
            view: the state.
            final: leave out what is covered and not final yet.
        """
        slots = view.slots
        counts = {name: slots.changed(name) for name in HISTORY.order}
        made = sum(view.tables[name].made_at for name in HISTORY.order)
        intervals = _without_gap(slots.common, slots.settled if final else slots.common, slots.ended)
        begin = slots.begin
        # What nothing shows to have begun earlier counts as the beginning, as in loads.
        begun = begin is not None and begin.late is None and bool(intervals) and intervals[0][:2] == begin[:2]
        return cls(intervals, sum(counts.values()), made, begun, counts, slots.changes)

    def changed_since(self, changes: int, counts: Mapping[str, int]) -> Instant:
        """After which instant final rows were added or taken out.

        Args:
            changes: how many changes there were then.
            counts: how many of each table; an older version did not record them.
        """
        if changes == self.changes:
            return AFTER_ALL
        return min(self.noted[name].since(counts.get(name), now) for name, now in self.counts.items())


def _without_gap(
    covered: Sequence[Interval], settled: Sequence[Interval], ended: frozenset[int]
) -> tuple[Interval, ...]:
    """What is final of each migration, up to the first gap in what is covered."""
    joined: list[Interval] = []
    for interval in covered:
        last = joined[-1].migration_id if joined else None
        # A history from a time on begins with that time in every migration.
        if last is not None and (last == interval.migration_id or interval.lo > max(BEGINNING, covered[0].lo)):
            break
        final = next((part for part in settled if part[:2] == interval[:2]), interval._replace(hi=interval.lo))
        joined.append(final._replace(hi=min(final.hi, interval.hi)))
        if interval.migration_id not in ended:
            break
    return tuple(interval for interval in joined if interval.lo < interval.hi)


@dataclass(frozen=True)
class Progress:
    """How far a table is computed.

    Attributes:
        done: the intervals of the history that it is computed from.
        version: of its rules.
        changes: see `Basis`, as for `made` and `begun`.
        made: of the history's tables.
        begun: whether it begins at ledger begin.
        unknown: how often something was not understood.
        slots: how many intervals the log has numbers for.
        counts: the changes of each table of the history; empty where an older version computed it.
        reach: rows depend on nothing after it.
    """

    done: tuple[Interval, ...] = ()
    version: int = 0
    changes: int = 0
    made: int = 0
    begun: bool = False
    unknown: int = 0
    slots: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    reach: Instant = BEFORE_ALL

    @classmethod
    def of(cls, table: DeltaStoreTable) -> Progress:
        """Read it from the state of a table last read.

        Raises:
            StoreError: a newer version computed the table.
        """
        progress = cls.read(table.number)
        version = progress.version
        if version > VERSIONS[table.name]:
            raise StoreError(
                f"{table.url}: a newer version of ledgerframes computed this table (rules {version}, this version knows"
                f" up to {VERSIONS[table.name]}); install a newer one"
            )
        return progress

    @classmethod
    def read(cls, number: Callable[[str], int | None]) -> Progress:
        """Read it from numbers by name."""
        done: list[Interval] = []
        slots = 0
        while (migration_id := number(f"derived/{slots}/migration")) is not None:
            lo, hi = (number(f"derived/{slots}/{name}") or 0 for name in ("lo", "hi"))
            done.append(Interval(migration_id, lo, hi))
            slots += 1
        version, changes, made, begun, unknown = (
            number(name) or 0 for name in (_VERSION, _CHANGES, _MADE, _BEGUN, _UNKNOWN)
        )
        filled = tuple(interval for interval in done if interval.lo < interval.hi)
        counts = {name: count for name in HISTORY.order if (count := number(f"{_CHANGES}/{name}")) is not None}
        reach = _reach(filled, *map(number, _REACH))
        return cls(filled, version, changes, made, bool(begun), unknown, slots, counts, reach)

    def numbers(self) -> dict[str, int]:
        """What the log has to record."""
        numbers = {
            _VERSION: self.version, _CHANGES: self.changes, _MADE: self.made, _BEGUN: int(self.begun),
            _UNKNOWN: self.unknown, **{f"{_CHANGES}/{name}": count for name, count in self.counts.items()},
            **dict(zip(_REACH, self.reach, strict=True)),
        }  # fmt: skip
        rest = [Interval(0, 0, 0)] * (self.slots - len(self.done))
        for number, interval in enumerate((*self.done, *rest)):
            for name, value in zip(("migration", "lo", "hi"), interval, strict=True):
                numbers[f"derived/{number}/{name}"] = value
        return numbers

    def begin(self, name: str, basis: Basis) -> Progress:
        """Nothing is computed yet, from this state of the history on."""
        return Progress(version=VERSIONS[name], begun=basis.begun, slots=self.slots).on(basis)

    def on(self, basis: Basis) -> Progress:
        """The same, to be continued from this state of the history."""
        return replace(self, changes=basis.changes, counts=basis.counts, made=basis.made)

    def reaching(self, done: tuple[Interval, ...], unknown: int = 0, reach: Instant = BEFORE_ALL) -> Progress:
        """The same further on.

        Args:
            done: what is computed now.
            unknown: how much of it was not understood.
            reach: the last instant on which other tables that it was computed with depend.
        """
        return replace(
            self,
            done=done,
            unknown=self.unknown + unknown,
            slots=max(self.slots, len(done)),
            reach=max(self.reach, reach, _end(done)),
        )

    def why_again(self, name: str, basis: Basis) -> str:
        """Why this state of the table cannot be continued; empty if it can."""
        if not self.version:
            return "it was not computed yet, or a repair took out files of it" if self.slots else NEW
        if self.version != VERSIONS[name]:
            return "the rules of an older version computed it"
        if self.made != basis.made:
            return "a table of the history was created again"
        if self.reach > basis.changed_since(self.changes, self.counts):
            return "rows were added to, or taken out of, the part of the history that was final"
        begins = {interval.migration_id: interval.lo for interval in basis.intervals}
        if beyond(self.done, basis.intervals) or any(begins[part.migration_id] != part.lo for part in self.done):
            return "the store covers another part of the history"
        return ""


def _end(done: Sequence[Interval]) -> Instant:
    """The last instant of some intervals."""
    return max(((interval.migration_id, interval.hi) for interval in done), default=BEFORE_ALL)


def _reach(done: Sequence[Interval], migration_id: int | None, hi: int | None) -> Instant:
    """The last instant on which rows can depend, by the log."""
    recorded = BEFORE_ALL if migration_id is None or hi is None else (migration_id, hi)
    # An older version goes further without recording it, and then rows may depend on anything.
    return recorded if recorded >= _end(done) else AFTER_ALL


def covers(done: Sequence[Interval], interval: Interval) -> bool:
    """Whether an interval is computed wholly."""
    return not beyond([interval], done)


def with_interval(done: Sequence[Interval], interval: Interval) -> tuple[Interval, ...]:
    """What is computed once an interval is, too."""
    before = [part for part in done if part.migration_id != interval.migration_id]
    own = [part.lo for part in done if part.migration_id == interval.migration_id]
    return tuple(sorted([*before, interval._replace(lo=min([*own, interval.lo]))]))
