"""`Store.export`: stored tables as files that other programs read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ledgerframes.arguments import flag, names, suggesting
from ledgerframes.export.exporting import Format, Layout, Profile, export_tables
from ledgerframes.export.report import ExportReport
from ledgerframes.export.shape import Times
from ledgerframes.paging.window import Bound, Duration, wanted_window
from ledgerframes.store.keywords import AsOf
from ledgerframes.store.read.reading import exported

if TYPE_CHECKING:
    from ledgerframes.store.store import Store


@suggesting
def export(
    self: Store,
    target: str | os.PathLike[str],
    *,
    tables: Iterable[str] | None = None,
    format: Format = "parquet",  # noqa: A002 - the word that pandas, polars and Delta use
    profile: Profile | None = None,
    layout: Layout = "file",
    times: Times = "us",
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    as_of: AsOf | None = None,
    allow_partial: bool = False,
    overwrite: bool = False,
    personal: bool = False,
) -> ExportReport:
    """Write stored tables to files that other programs read; docs/bi.md says how they read them.

    Args:
        self: the store.
        target: a folder; for a workbook a file `.xlsx` or a folder.
        tables: which; by default all that are there. Snapshots are exported whole.
        format: see `export_tables`, as for `profile`, `layout`, `times` and `overwrite`.
        profile: `"bi"` for programs without lists and exact decimals.
        layout: `"file"`, one a table, or `"hive"`: folders by migration id and month.
        times: `"us"` or `"ms"`.
        start: see `load`, as for `end`, `last`, `as_of` and `allow_partial`.
        end: exclusive.
        last: count back from now.
        as_of: an older state.
        allow_partial: export a history with holes.
        overwrite: put the files in place of those that are there.
        personal: keep personal data, which is left out otherwise; see `export_tables`.

    Returns:
        What was written.

    Raises:
        InputError: an argument breaks a rule, or the target cannot be written.
        PartialResultError: the range is not wholly covered.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     store.export(folder + "/csv", tables=["updates"], format="csv").rows
        50
    """
    part = wanted_window(start, end, last)
    chosen = None if tables is None else names(tables, "tables")
    sources = exported(
        self._lake.existing(as_of), chosen, part, allow_partial=allow_partial, personal=flag(personal, "personal")
    )
    return export_tables(
        sources, target, format=format, profile=profile, layout=layout, times=times, overwrite=overwrite,
        provenance={"source": self._lake.url, "range": str(part), "as_of": as_of and str(as_of)}, personal=personal,
    )  # fmt: skip
