"""A part of a stored table, cut to what is covered; `Store` reads, asks and exports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from ledgerframes.arguments import flag
from ledgerframes.errors import InputError
from ledgerframes.loaders.provenance import Provenance
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Window
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.history_tables import ORDER
from ledgerframes.store.intervals import BEGINNING, Interval, intersection
from ledgerframes.store.lake import View, declared
from ledgerframes.store.read.reading import batches_of, load_table, rows_of, visible

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds


@dataclass(frozen=True)
class Part:
    """A part of a stored table; its files are there and have the size and footer that the log says.

    Attributes:
        table: the table.
        data: all its rows.
        rows: which of them; None for all.
        complete: whether everything asked for is there.
        from_beginning: whether it begins where the ledger does.
        settled: up to this place, in the order of migrations and times, its rows are final.
        left_out: personal data that the table was made without.
    """

    table: DeltaStoreTable
    data: ds.Dataset
    rows: pc.Expression | None
    complete: bool
    from_beginning: bool = False
    settled: Cursor | None = None
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, view: View, name: str, wanted: Window, *, allow_partial: bool) -> Part:
        """The part of a table that a window names.

        Raises:
            InputError: the table has no places in the history, and the window names some.
            PartialResultError: the window is not wholly covered, and that is not allowed.
            StoreError: a file is damaged; in an object store that is said when it is read.
        """
        partly = flag(allow_partial, "allow_partial")
        table = view.tables[name]
        data = table.dataset()
        if name not in ORDER:
            if not wanted.whole:
                raise InputError(f"start and end are places in the history; {name!r} has none. Use where=")
            return cls(table, data, None, complete=True, left_out=view.left_out(name)).checked()
        shown, complete = visible(view.covered, wanted, ended=view.slots.ended, allow_partial=partly, name=name)
        first = view.first_migration
        begins = bool(shown) and (shown[0].migration_id, shown[0].lo) == (first, BEGINNING)
        rows = visible_rows(view, name, shown)
        return cls(
            table, data, rows, complete, begins, _settled(shown, view.slots.settled), left_out=view.left_out(name)
        ).checked()

    def provenance(self, url: str, wanted: Window) -> Provenance:
        """Where its rows come from."""
        return Provenance(
            (url,), str(wanted), None, self.complete, self.from_beginning, settled=self.settled, left_out=self.left_out
        )

    def checked(self) -> Part:
        """The same, after a look at the files of a folder; those of an object store are checked when they are read."""
        files = self.table.files
        if files is not None and files.local:
            files.check(fragment.path for fragment in self.data.get_fragments(filter=self.rows))
        return self

    @property
    def dataset(self) -> ds.Dataset:
        """The rows, to be read lazily."""
        return self.data if self.rows is None else self.data.filter(self.rows)

    def load(self, columns: Sequence[str], rows: pc.Expression | None = None) -> pa.Table:
        """Columns and rows in memory, in the order of the history or of loading, in the declared types.

        Raises:
            StoreError: a file is damaged.
        """
        with damage_named([self.table]):
            return load_table(self.dataset, columns, rows, self.table.table)


def visible_rows(view: View, name: str, shown: Sequence[Interval]) -> pc.Expression:
    """The rows of some intervals; where a crash may have left an update in part, only those of whole updates.

    A sync writes `updates` last, so an update that it holds is whole.
    """
    slots = view.slots
    if name == "updates" or (slots.in_step and slots.added_in_step):
        return rows_of(shown)
    updates = view.tables["updates"].dataset().to_table(columns=["update_id"], filter=rows_of(shown))
    return rows_of(shown) & pc.field("update_id").isin(pc.unique(updates["update_id"]))


def _settled(shown: Sequence[Interval], settled: Sequence[Interval]) -> Cursor | None:
    """Up to where intervals are final without a break, in the order of migrations and times."""
    place = None
    for interval in shown:
        final = next((part for part in intersection([interval], settled) if part.lo == interval.lo), None)
        if final is not None:
            place = Cursor(interval.migration_id, final.at)
        if final is None or final.at < interval.at:
            break
    return place


def exported(
    view: View, tables: Sequence[str] | None, wanted: Window, *, allow_partial: bool, personal: bool = False
) -> dict[str, Callable[[], pa.RecordBatchReader]]:
    """What an export reads: each table's rows in batches, opened when its turn comes; snapshots whole."""
    view.to_show(personal=personal)
    sources: dict[str, Callable[[], pa.RecordBatchReader]] = {}
    for name in list(view.versions) if tables is None else tables:
        declared(name)
        window = wanted if name in ORDER else Window()
        part = Part.of(view, name, window, allow_partial=allow_partial)
        sources[name] = partial(batches_of, part.table, part.data, part.rows)
    return sources
