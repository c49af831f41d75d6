"""How far a kept table is computed: `read` and `written` are all that `derive` and readers know of how it is stored.

It stands in the log of the table, in the commit of the rows: `derived/rules`, the version of its rules (0 once a repair
took something out); `derived/changes` and `derived/made`, which tell whether the history below changed since;
`derived/begun`, whether it begins at ledger begin; `derived/unknown`, how much was not understood; `derived/count`, and
for each of so many intervals n `derived/n/migration`, `derived/n/lo` and `derived/n/hi`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ledgerframes.errors import StoreError
from ledgerframes.store.coverage import BEGINNING, Interval, beyond, missing
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import VERSIONS
from ledgerframes.store.table_sets import HISTORY
from ledgerframes.store.view import View

_NAMES: Final = ("rules", "changes", "made", "begun", "unknown", "count")
#: Why a table is computed that was not there yet.
NEW: Final = "new"
#: What a repair records when it takes something out: the table is computed again.
UNSOUND: Final = {"derived/rules": 0}


@dataclass(frozen=True)
class Basis:
    """The part of the history that tables are computed from.

    Attributes:
        intervals: one per migration, without a gap.
        changes: counts rows added to, and taken out of, what was final.
        made: when the tables of the history were created, summed.
        begun: whether it begins at ledger begin.
    """

    intervals: tuple[Interval, ...]
    changes: int
    made: int
    begun: bool

    @classmethod
    def of(cls, view: View, *, final: bool = True) -> Basis:
        """Read it from a state of a store.

        Args:
            view: the state.
            final: leave out what is covered and not final yet.
        """
        slots = view.slots
        intervals = _without_gap(slots.common, slots.settled if final else slots.common, slots.ended)
        begin = slots.begin
        # What nothing shows to have begun earlier counts as the beginning, as in loads.
        begun = begin is not None and begin.late is None and bool(intervals) and intervals[0][:2] == begin[:2]
        return cls(
            intervals,
            slots.changes,
            sum(view.tables[name].made_at for name in HISTORY.order),
            begun,
        )

    def beyond(self, done: Sequence[Interval]) -> list[Interval]:
        """What of it is not computed yet, in order."""
        return [part for interval in self.intervals for part in missing(interval, done)]


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
        rules: the version of its rules; None where nothing was computed yet.
        changes: see `Basis`, as for `made` and `begun`.
        made: of the history's tables.
        begun: whether it begins at ledger begin.
        unknown: how often something was not understood.
    """

    done: tuple[Interval, ...] = ()
    rules: int | None = None
    changes: int = 0
    made: int = 0
    begun: bool = False
    unknown: int = 0

    def why_again(self, name: str, basis: Basis) -> str:
        """Why this state of a table cannot be continued; empty if it can."""
        if self.rules is None:
            return NEW
        if not self.rules:
            return "a repair took out a part of it"
        if self.rules != VERSIONS[name]:
            return "the rules of an older version computed it"
        if self.made != basis.made:
            return "a table of the history was created again"
        if self.changes != basis.changes:
            return "rows were added to, or taken out of, the part of the history that was final"
        begins = {interval.migration_id: interval.lo for interval in basis.intervals}
        if beyond(self.done, basis.intervals) or any(begins[part.migration_id] != part.lo for part in self.done):
            return "the store covers another part of the history"
        return ""


def read(table: DeltaStoreTable) -> Progress:
    """How far a table is computed, in the state last read.

    Raises:
        StoreError: a newer version computed the table.
    """
    rules, changes, made, begun, unknown, count = (table.number(f"derived/{name}") for name in _NAMES)
    if rules is not None and rules > VERSIONS[table.name]:
        raise StoreError(
            f"{table.url}: a newer version of ledgerframes computed this table (rules {rules}, this version knows"
            f" up to {VERSIONS[table.name]}); install a newer one"
        )
    done = [[table.number(name) or 0 for name in _interval(number)] for number in range(count or 0)]
    intervals = tuple(Interval(*numbers) for numbers in done)
    return Progress(intervals, rules, changes or 0, made or 0, bool(begun), unknown or 0)


def written(progress: Progress) -> dict[str, int]:
    """What a commit has to record beside its rows."""
    values = (
        *(progress.rules or 0, progress.changes, progress.made, int(progress.begun), progress.unknown),
        len(progress.done),
    )
    numbers = {f"derived/{name}": value for name, value in zip(_NAMES, values, strict=True)}
    for number, interval in enumerate(progress.done):
        numbers.update(zip(_interval(number), interval, strict=True))
    return numbers


def _interval(number: int) -> tuple[str, ...]:
    return tuple(f"derived/{number}/{name}" for name in ("migration", "lo", "hi"))


def with_interval(done: Sequence[Interval], interval: Interval) -> tuple[Interval, ...]:
    """What is computed once an interval is, too."""
    before = [part for part in done if part.migration_id != interval.migration_id]
    own = [part.lo for part in done if part.migration_id == interval.migration_id]
    return tuple(sorted([*before, interval._replace(lo=min([*own, interval.lo]))]))
