"""`lake_window`: the part of a stored table that `start`, `end` and `last` name, and where that table ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError, PartialResultError, StoreError
from ledgerframes.paging.cursor import Bound, Cursor, Duration, Window, wanted_window
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.store.coverage import CLOSED, Interval, beyond, merged, rows_of, wanted_in
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.progress import Basis, of_another_part, read
from ledgerframes.store.derive.tables import DERIVABLE, DERIVED_TABLES, OPEN_CONTRACTS
from ledgerframes.store.stored_tables import HISTORY, SNAPSHOTS, STORED, TableSet, set_of
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.timestamps import EARLIEST, LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.store.root import Root

#: The column of time of tables outside of the history, by which `start`, `end` and `last` cut them.
TIMES: Final = {
    "round_history": "opened_at", "rewards": "created_at", "mint_burn": "record_time", "coin_history": "ended_at",
    "transfers": "record_time", "token_transfers": "record_time", "traffic_purchases": "record_time",
    "supply_per_round": "opened_at", "active_contracts": "snapshot_record_time",
    **{name: "loaded_at" for name in SNAPSHOTS if name != "active_contracts"},
}  # fmt: skip
#: The one that is null for rows whose time is still to come.
_TO_COME: Final = "ended_at"
_TIME: Final = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class LakeWindow:
    """A window of one stored table.

    Attributes:
        wanted: the requested window.
        reach: the last place that the table covers; None if it covers nothing.
        begins: the window of all that the table has, if the start of a sync decided where it begins.
        counted_from: the instant that `last` counts back from.
    """

    wanted: Window
    reach: Cursor | None
    begins: Window | None = None
    counted_from: int | None = None

    def bounds(self) -> dict[str, Any]:
        """Its explicit bounds, for provenance; an open start is that of the sync that decided it."""
        begins = self.begins.bounds() if self.begins is not None and not self.wanted.names_start else {}
        return begins | self.wanted.bounds()

    def in_words(self, low: str) -> str:
        """The window in words; an open side is where the stored history begins or ends."""
        if not low and self.begins is not None and not self.wanted.names_start:
            low = f"{self.begins.in_words().partition(' to ')[0]} (the beginning of what is stored)"
        high = "" if self.reach is None else f"{format_timestamp(self.reach.micros)} (the end of what is stored)"
        return self.wanted.in_words(low, high)


def require(root: Root, name: str, url: str) -> None:
    """Refuse a table that was never filled, and explain how to fill it.

    Raises:
        StoreError: the store does not have it.
    """
    if name in DERIVABLE and root.shown(name).exists and not read(root.document, name).rules:
        raise StoreError(
            f"{url}: {name} is not computed yet, or a repair removed a part of it; run store.derive(['{name}']), or a"
            " sync, which computes it again"
        )
    if root.shown(name).exists or name in {REJECTS.name, OPEN_CONTRACTS.name} or name not in STORED:
        return
    if name in DERIVED_TABLES:
        how = f'compute it with store.derive(["{name}"])'
    else:
        of = set_of(name)
        how = f"sync {'it' if of is None or of is HISTORY else 'them'} with " + (
            "store.sync(net)" if of is HISTORY else f'store.sync(net, tables=["{name}"])'
        )
    raise StoreError(f"{url}: the store has no {name}; {how}")


def lake_window(
    root: Root, name: str, start: Bound | None, end: Bound | None, last: Duration | None = None
) -> LakeWindow:
    """Read a caller's bounds for one table; `last` counts back from where that table ends.

    Raises:
        InputError: a bound is not valid, or the table has no column of time.
        PartialResultError: `last` is given, and nothing is stored to count from.
    """
    wanted = wanted_window(start, end, last, now=0)  # refuses what is not valid before anything is read
    reach, begins = reach_of(root, name), _begins(root, name)
    if last is None:
        return LakeWindow(wanted, reach, begins)
    if reach is None:
        raise PartialResultError(f"{name}: last={last!r} counts back from the end of what is stored, and nothing is")
    return LakeWindow(wanted_window(start, end, last, now=reach.micros), reach, begins, reach.micros)


def _begins(root: Root, name: str) -> Window | None:
    """All that a table of the history has; None if the servers' history, not a sync, decides where it begins."""
    of = HISTORY if name in DERIVED_TABLES else set_of(name)
    coverage = None if of is None else root.coverage_of(of)
    if coverage is None or coverage.start is None:
        return None
    by_time = any(map(coverage.starts_at_a_time, coverage.migrations[1:]))
    return Window(since=coverage.start.micros) if by_time else Window(coverage.start)


def reach_of(root: Root, name: str) -> Cursor | None:
    """The last place that a table covers."""
    table, of = root.shown(name), set_of(name)
    if of is not None:
        return _end_of(root, of, root.coverage_of(of).common)
    if name in DERIVED_TABLES:
        return _end_of(root, HISTORY, read(root.document, name).done)
    if name not in TIMES or not table.exists:
        return None
    with damage_named([table]):
        times = table.dataset().to_table(columns=[TIMES[name]])[TIMES[name]]
    newest = pc.max(times.cast(pa.int64())).as_py()
    return None if newest is None else Cursor(0, newest)


def _end_of(root: Root, of: TableSet, covered: Sequence[Interval]) -> Cursor | None:
    """The end of some intervals; where they contain a migration to its end, and none later, that of its last row."""
    last = max(covered, default=None)
    if last is None or last.hi < CLOSED:
        return None if last is None else last.last
    times = _row_times(root, of, last.migration_id)
    return None if times is None else Cursor(last.migration_id, times[1])


def _row_times(root: Root, of: TableSet, migration_id: int) -> tuple[int, int] | None:
    """The first and the last record time stored of a migration; None without rows."""
    table, own = root.shown(of.index), pc.field("migration_id") == migration_id
    with damage_named([table]):
        found = [batch["record_time"] for batch in table.dataset().to_batches(columns=["record_time"], filter=own)]
    times = [pc.min_max(one.cast(pa.int64())).as_py() for one in found if len(one)]
    return (min(one["min"] for one in times), max(one["max"] for one in times)) if times else None


def check_migrations(root: Root, name: str, covered: Sequence[Interval], wanted: Window) -> None:
    """Refuse bare times at which a migration that servers have, and the store lacks, may have rows.

    A store that was filled by pairs has some migrations alone. None has an update later than the first one of the next
    plus a day.

    Args:
        root: a state of the store.
        name: the table's name.
        covered: the part of the history that the table is of.
        wanted: the window.

    Raises:
        PartialResultError: there is one.
    """
    of = HISTORY if name in DERIVED_TABLES else set_of(name)
    if of is None or not covered or (wanted.since is None and wanted.until is None):
        return
    first, last = covered[0].migration_id, covered[-1].migration_id
    known = [one for one in root.coverage_of(of).known if wanted_in(wanted, one) is not None]
    lacking: int | None = None
    if earlier := [one for one in known if one < first]:
        begin, _ = _row_times(root, of, first) or (LATEST, LATEST)
        before = wanted.since is not None and wanted.since < min(begin, LATEST - OVERLAP) + OVERLAP
        if before or (not wanted.names_start and wanted.until is not None and wanted.until <= begin):
            lacking = max(earlier)
    if later := [one for one in known if one > last]:
        _, end = _row_times(root, of, last) or (EARLIEST, EARLIEST)
        beyond = wanted.until is not None and wanted.until > max(end, EARLIEST + OVERLAP) - OVERLAP
        if beyond or (not wanted.has_end and wanted.since is not None and wanted.since > end):
            lacking = min(later)
    if lacking is not None:
        kept = name in DERIVED_TABLES
        lacks = "it is not computed for" if kept else "nothing is stored of"
        remedy = f"run store.derive(['{name}'])" if kept else "give start= and end= as pairs (migration id, time)"
        raise PartialResultError(
            f"{name}: {wanted} means every migration, and {lacks} migration {lacking}, which may have rows of that"
            f" time. To go on, {remedy}, sync that range by times, or pass allow_partial=True to get what there is"
        )


def rows_by_time(table: DeltaStoreTable, wanted: Window) -> pc.Expression | None:
    """The rows of a window in a table outside of the history, by its column of time; None for all.

    Raises:
        InputError: the table has no such column, or the window names migrations.
    """
    if wanted.whole or (wanted.start is not None and wanted.start.micros <= EARLIEST and not wanted.has_end):
        return None
    if table.name not in TIMES:
        raise InputError(f"{table.name} has no column of time for start=, end= and last=; use where=")
    if wanted.end is not None or (wanted.start is not None and wanted.start.micros > EARLIEST):
        raise InputError(
            f"{table.name} is cut by its column {TIMES[table.name]} and has no migrations; give times, without a"
            " migration id"
        )
    rows = pc.scalar(True)  # noqa: FBT003 - a value, not a switch
    column = pc.field(TIMES[table.name])
    if wanted.since is not None:
        later = column >= pa.scalar(wanted.since, _TIME)
        rows &= later | column.is_null() if TIMES[table.name] == _TO_COME else later
    if wanted.until is not None:
        rows &= column < pa.scalar(wanted.until, _TIME)
    return rows


def check_reach(
    name: str, wanted: Window, reach: Cursor | None, begin: Cursor | None = None, *, computed: bool = False
) -> None:
    """Refuse a window that begins after the end of the stored history, or that ends after that of a computed table.

    Args:
        name: the table's name.
        wanted: the window.
        reach: the last place that the table covers.
        begin: the first place, for a computed table that does not begin at ledger begin.
        computed: whether it is a computed table.

    Raises:
        PartialResultError: it does, or it includes places before `begin`.
    """
    if begin is not None and ((wanted.names_start and wanted.wants_before(begin)) or wanted.ends_before(begin)):
        raise PartialResultError(
            f"{name}: it is computed from {format_timestamp(begin.micros)} of migration {begin.migration_id} on, where"
            f" the stored history begins, but {wanted} was requested. Give that as start=, leave start= out, or pass"
            " allow_partial=True to get what there is"
        )
    if reach is None:
        return
    ends = f"(migration {reach.migration_id}, {format_timestamp(reach.micros)})"
    behind = wanted.since is not None and wanted.since > reach.micros + 1
    if behind or (wanted.start is not None and wanted.start > Cursor(reach.migration_id, reach.micros + 1)):
        raise PartialResultError(
            f"{name}: what is stored ends at {ends}, and {wanted} is asked for. Sync first or give an earlier start=,"
            " or pass allow_partial=True to get what there is"
        )
    if computed and wanted.until is not None and wanted.until > reach.micros + 1:
        raise PartialResultError(
            f"{name}: it is computed up to {ends}, and {wanted} is asked for. Run store.sync(net) and store.derive(),"
            " or pass allow_partial=True to get what there is"
        )


def check_computed(root: Root, name: str, wanted: Window) -> None:
    """Refuse a computed table that lacks updates of the stored history up to where it is computed.

    Raises:
        PartialResultError: it was computed from another part of the history, or from some of its migrations.
    """
    progress, reach = read(root.document, name), reach_of(root, name)
    if not progress.done:
        return
    if why := of_another_part(progress, Basis.of(root)):
        raise PartialResultError(
            f"{name}: its rows have to be computed again, because {why}; run store.derive(['{name}']), or a sync, which"
            " does so, or pass allow_partial=True to get what there is"
        )
    ends = CLOSED if reach is None else reach.micros
    known = merged(part._replace(hi=min(part.hi, ends)) for part in root.coverage.within(wanted))
    lacking, updates = beyond(known, progress.done), root.shown(HISTORY.index)
    with damage_named([updates]):
        if lacking and updates.dataset().head(1, columns=["record_time"], filter=rows_of(lacking)).num_rows:
            raise PartialResultError(
                f"{name}: it is not computed for {lacking[0]} yet; run store.derive(['{name}']), or a sync, which does"
                " so, or pass allow_partial=True to get what there is"
            )
