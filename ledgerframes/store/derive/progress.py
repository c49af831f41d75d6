"""How far a kept table is computed, and whether it can be continued; `derive` and readers use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ledgerframes.errors import StoreError
from ledgerframes.store.coverage import BEGINNING, Interval, beyond
from ledgerframes.store.derive.tables import VERSIONS
from ledgerframes.store.documents import Document, Progress
from ledgerframes.store.root import Root

#: The reason for computing a table that did not exist yet.
NEW: Final = "new"


@dataclass(frozen=True)
class Basis:
    """The part of the history that tables are computed from.

    Attributes:
        intervals: one per migration, without a gap.
        changes: how often rows were added to, or removed from, the final part.
        begun: whether it begins at ledger begin.
    """

    intervals: tuple[Interval, ...]
    changes: int
    begun: bool

    @classmethod
    def of(cls, root: Root, *, final: bool = True) -> Basis:
        """Read the basis from a state of a store.

        Args:
            root: the state.
            final: leave out the part that is covered but not final yet.
        """
        coverage = root.coverage
        intervals = _without_gap(coverage.common, coverage.settled if final else coverage.common, coverage.followed)
        begin = coverage.begin
        # A start that nothing shows to be late counts as the beginning, as in loads.
        begun = begin is not None and begin.late is None and bool(intervals) and intervals[0][:2] == begin[:2]
        return cls(intervals, coverage.changes, begun)


def _without_gap(
    covered: Sequence[Interval], settled: Sequence[Interval], followed: Sequence[tuple[int, int]]
) -> tuple[Interval, ...]:
    """The settled part of each migration, up to the first gap in coverage."""
    joined: list[Interval] = []
    for interval in covered:
        last = joined[-1].migration_id if joined else None
        # A history that starts at a time starts at that time in every migration.
        begins = interval.lo <= max(BEGINNING, covered[0].lo)
        if last is not None and not (begins and (last, interval.migration_id) in followed):
            break
        final = next((part for part in settled if part[:2] == interval[:2]), interval._replace(hi=interval.lo))
        joined.append(final._replace(hi=min(final.hi, interval.hi)))
    return tuple(interval for interval in joined if interval.lo < interval.hi)


def why_again(progress: Progress, name: str, basis: Basis) -> str:
    """Explain why the state of a table cannot be continued; empty if it can."""
    if progress.rules is None:
        return NEW
    if not progress.rules:
        return "a repair removed a part of it"
    if progress.rules != VERSIONS[name]:
        return "the rules of an older version computed it"
    return of_another_part(progress, basis)


def of_another_part(progress: Progress, basis: Basis) -> str:
    """Explain why a table is of another history than what is final now; empty if it is of that or a beginning of it."""
    if progress.changes != basis.changes:
        return "rows were added to, or removed from, the part of the history that was final"
    begins = {interval.migration_id: interval.lo for interval in basis.intervals}
    if beyond(progress.done, basis.intervals) or any(begins[part.migration_id] != part.lo for part in progress.done):
        return "the store covers another part of the history"
    return ""


def read(document: Document, name: str) -> Progress:
    """How far a table is computed.

    Raises:
        StoreError: a newer version computed the table.
    """
    progress = document.computed.get(name, Progress())
    if progress.rules is not None and progress.rules > VERSIONS[name]:
        raise StoreError(
            f"{name}: a newer version of ledgerframes computed this table (rules {progress.rules}, this version knows"
            f" up to {VERSIONS[name]}); install a newer one"
        )
    return progress
