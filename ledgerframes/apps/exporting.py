"""`export`: frames, a history or a store to files that other programs read; `export/` writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from importlib import import_module
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import choice, flag, names, shown, suggesting
from ledgerframes.errors import InputError
from ledgerframes.export.exporting import Format, Layout, Profile, export_tables
from ledgerframes.export.report import ExportReport
from ledgerframes.export.shape import Times
from ledgerframes.export.sources import Source
from ledgerframes.export.texts import restore_text
from ledgerframes.frames import attrs_of
from ledgerframes.loaders.history import History
from ledgerframes.models.computing import together
from ledgerframes.store.store import Store
from ledgerframes.tables.derived import DERIVED

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class _Exporting(Protocol[P, R_co]):
    """A function with the one that undoes what its CSV files need."""

    restore_text: Callable[[str], str]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def _with_restore_text(function: Callable[P, R_co]) -> _Exporting[P, R_co]:
    made = cast("_Exporting[P, R_co]", function)
    made.restore_text = restore_text
    return made


@_with_restore_text
@suggesting
def export(
    data: Mapping[str, Source] | History[Any] | Store | pd.DataFrame | pa.Table,
    path: str | os.PathLike[str],
    *,
    tables: Iterable[str] | None = None,
    format: Format | None = None,  # noqa: A002 - the word that pandas, polars and Delta use
    profile: Profile | None = None,
    layout: Layout = "file",
    times: Times = "us",
    overwrite: bool = False,
    provenance: Mapping[str, Any] | None = None,
    personal: bool | None = None,
    opening: Any = None,
) -> ExportReport:
    """Write tables to files that other programs read, in bounded memory.

    Of a history or a store every table can be had by its name, computed ones too: `lf.export(history, "out",
    tables=["rewards"])`. Their amounts are exact. Parquet keeps what a frame says of its origin, so computed tables of
    the files, such as `lf.supply("out")`, are those of the history.

    Everything is written aside and moved to its place when all of it is whole: an export that fails leaves what was
    there before, and nothing else. If the process is killed while the files are moved, the next export into that folder
    finishes the move before it does anything else.

    Args:
        data: a `History`, a `Store`, or by table name the source of its rows: an Arrow table, dataset, reader or record
            batches, a DataFrame of pandas or polars, or a callable that returns one when the table's turn comes. Of a
            frame whose `attrs` name its table, as those that are loaded or computed do, the frame alone will do.
            Amounts that pandas holds as floats are written as DOUBLE, rounded, with one warning.
        path: a folder, or a file whose ending names the format: `.xlsx`, or of a single table `.parquet` or `.csv`.
        tables: which; of a history its three tables by default, of a store all that it has. Computed tables that a
            store does not keep are computed. A store's own `export` also takes a range and `model="star"`.
        format: Parquet (zstd, the columns' meanings in the schema), CSV (UTF-8, RFC 4180, exact, formulas defused:
            `lf.export.restore_text` returns a text cell as it was), or one workbook with a sheet per table; by default
            what the ending of `path` says, and Parquet for a folder.
        profile: "bi" has no nested columns (lists as JSON), an amount as a number under its own name (the nearest
            double) and exact as text in `NAME_exact`, times in UTC without zone. A workbook is always so, and has
            times exact in `NAME_text`, since its own have milliseconds.
        layout: one file per table, or "hive": tables of the history in folders `migration_id=…/record_month=…`, which
            then are those two columns; Parquet only.
        times: "ms" takes the microseconds off, toward the past.
        overwrite: whether files of an earlier export may be replaced.
        provenance: the origin of the rows, JSON-serialisable and without secrets; goes into Parquet and workbooks.
        personal: True keeps personal data, the contact points of validators' operators, False leaves it out. Without
            it, each table's source decides: it is left out unless that was loaded to be kept. What was left out is
            counted in the report, listed in `extra` where there is such a column, and said by the provenance.
        opening: what was active before the history, for the computed tables that need it: see `lf.rewards`.

    Returns:
        Rows, bytes and files of each table, and the cells of a workbook that had to be cut to 32,767 characters.

    Raises:
        InputError: an argument, a name or a column that cannot be exported, a place that is taken or cannot be written.
        ConfigurationError: format="xlsx" without xlsxwriter.
        PartialResultError: a store's history, or one that a computed table needs whole, has a gap.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     lf.export({"licenses": lf.load_licenses(net)}, folder + "/out", format="csv").rows
        24
    """
    wanted = None if tables is None else list(names(tables, "tables"))
    personal = None if personal is None else flag(personal, "personal")
    if opening is not None and not (isinstance(data, Store | History) and DERIVED.keys() & {*(wanted or ())}):
        raise InputError(f"opening={shown(opening)} is for computed tables of a History or Store; name them in tables=")
    if isinstance(data, Store):
        data = data._pinned()  # noqa: SLF001 - stored and computed tables are of one state
    stored = set(data.tables()["table"]) if isinstance(data, Store) else set()
    if isinstance(data, Store) and provenance is None and stored.issuperset(wanted or ()):
        return data.export(
            path, tables=wanted, format=format, profile=profile, layout=layout, times=times, overwrite=overwrite,
            personal=personal is True,
        )  # fmt: skip
    with ExitStack() as ending:
        history = cache(lambda: ending.enter_context(together(data, opening=opening)))
        return export_tables(
            _sources(data, wanted, history), path, format=format, profile=profile, layout=layout, times=times,
            overwrite=overwrite, provenance=provenance, personal=personal,
        )  # fmt: skip


def _sources(data: Any, wanted: list[str] | None, history: Callable[[], Any]) -> Mapping[str, Source]:
    """The source of the rows of each table; computed ones come from `history`, which shares steps that several need.

    Raises:
        InputError: there is no such table, or `data` is nothing that has tables.
    """
    if isinstance(data, Store):
        there: dict[str, Source] = {str(name): partial(data.scan, str(name)) for name in data.tables()["table"]}
    elif isinstance(data, History):
        there = dict(data._asdict())
    elif isinstance(data, Mapping):
        there = dict(data)
    elif name := attrs_of(data).get("table"):
        there = {str(name): data}
    else:
        refused = "a Network: load from it first" if hasattr(data, "scan") and hasattr(data, "ledger") else shown(data)
        raise InputError(
            f"data is {refused}; give a History, a Store, or frames by the names of their tables, such as"
            ' {"rewards": frame}'
        )
    if wanted is None:
        return there
    computed = DERIVED if isinstance(data, Store | History) else {}
    for name in wanted:
        choice(name, "tables", [*map(str, there), *computed])
    return {name: there[name] if name in there else partial(_computed, name, history) for name in wanted}


def _computed(name: str, history: Callable[[], Any]) -> Any:
    return getattr(import_module("ledgerframes"), name)(history(), as_="arrow")
