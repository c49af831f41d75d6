"""The ways to read a `Store`: `load`, `scan`, `dask` and `sql`, which are its methods of the same names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import flag, suggesting
from ledgerframes.errors import IncompleteFiguresWarning, PartialResultError, warn
from ledgerframes.frames import As, Decimals, Lists, check_shape, shape
from ledgerframes.loaders.extent import Beginning, warn_of
from ledgerframes.paging.cursor import Bound, Duration, Window, wanted_window
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.dask_frames import dask_frame
from ledgerframes.store.read.reading import Part
from ledgerframes.store.read.where import Where, conditions, warn_of_slips
from ledgerframes.store.read.windows import lake_window, require
from ledgerframes.store.star.star import OF_BEGIN
from ledgerframes.store.stored_tables import STORED, declared
from ledgerframes.store.sync.report import AsOf
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ

if TYPE_CHECKING:
    import pyarrow.dataset as ds

    from ledgerframes.store.store import Store

#: The models that need all of the history from ledger begin, and say so by no function that SQL could call.
_OF_BEGIN: Final = (*OF_BEGIN, "holdings_from_events", "license_growth")


class LoadOptions(TypedDict, total=False):
    """The keywords of `Store.load`, for its overloads; a test keeps both in step."""

    columns: Iterable[str] | None
    start: Bound | None
    end: Bound | None
    last: Duration | None
    where: Where
    as_of: AsOf | None
    allow_partial: bool
    decimals: Decimals | None
    lists: Lists


class SqlOptions(TypedDict, total=False):
    """The keywords of `Store.sql`, for its overloads."""

    as_of: AsOf | None
    allow_partial: bool
    decimals: Decimals | None
    parameters: Sequence[Any] | None


@overload
def load(self: Store, table: str, *, as_: Literal["pandas"] = ..., **options: Unpack[LoadOptions]) -> pd.DataFrame: ...
@overload
def load(self: Store, table: str, *, as_: Literal["arrow"], **options: Unpack[LoadOptions]) -> pa.Table: ...
@overload
def load(self: Store, table: str, *, as_: Literal["polars"], **options: Unpack[LoadOptions]) -> Any: ...
@suggesting
def load(
    self: Store,
    table: str,
    *,
    columns: Iterable[str] | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    where: Where = None,
    as_of: AsOf | None = None,
    allow_partial: bool = False,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
) -> Any:
    """Load rows of a stored table, reading only the files, row groups and columns that are needed.

    Args:
        self: the store.
        table: its name; `store.tables()` lists them.
        columns: the columns to keep; all by default.
        start: inclusive; a time for every migration from there, a pair (migration id, time), or `"begin"`. A table that
            is no part of the history is cut by its column of time: snapshots by `loaded_at`, active contracts by
            `snapshot_record_time`, rewards by `created_at`, coins by `ended_at`, with those that have not ended if
            `end` is left out.
        end: exclusive, in the same forms; without it up to the end of the stored history.
        last: `"7d"`, `"1h 30min"` or a timedelta, back from the end of the stored table; instead of `start`.
        where: `{column: value}`, `{column: [values]}`, `{column: (start, end)}` for a range, start inclusive, end
            exclusive, None for an open side; `[(column, ">", value), …]`; or a pyarrow expression. Times as in `start`.
        as_of: an older state: a sync's id, the number of a document, or a time.
        allow_partial: return the available part of a range that is not wholly covered.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is faster but supports fewer operations.

    Returns:
        One row per row of the table, in the order of migration id and record time for the history, in the order of
        loading for a snapshot table. Times are UTC in microseconds; `lf.describe` lists columns and units.

    Raises:
        InputError: an argument breaks a rule.
        PartialResultError: the range is not wholly covered, or begins after the end of the stored history.
        StoreError: the table was never synced or computed.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     len(store.load("updates", columns=["update_id"], where={"kind": "transaction"}))
        41
    """
    check_shape(as_, decimals, lists)
    named = declared(table)
    picked = named.pick(columns)
    condition = conditions(where, named)
    root = self._lake.existing(as_of)
    require(root, table, self._lake.url)
    part = lake_window(root, table, start, end, last)
    read = Part.of(root, table, part.wanted, allow_partial=allow_partial)
    rows = read.load(picked, condition)
    if not rows:
        warn_of_slips(where, read)
    attrs = read.attrs(self._lake.url, part) | {"as_of": as_of and str(as_of), "table": table, "rows": len(rows)}
    attrs |= {} if condition is None else {"only": {"where": str(condition)}}
    attrs |= read.proof(rows, condition)
    return shape(rows, named, as_=as_, decimals=decimals, lists=lists, attrs=attrs)


def whole(self: Store, table: str) -> pd.DataFrame:
    """All rows of a table, as `store["events"]` returns them; `load` takes parts of it."""
    return load(self, table)


@suggesting
def scan(
    self: Store,
    table: str,
    *,
    start: Bound | None = None,
    end: Bound | None = None,
    as_of: AsOf | None = None,
    allow_partial: bool = False,
) -> ds.Dataset:
    """Open a stored table as a pyarrow Dataset, cut to what is covered; for engines that read lazily.

    Args:
        self: the store.
        table: its name; `store.tables()` lists them.
        start: see `load`, as for `end`.
        end: exclusive.
        as_of: an older state: a sync's id, the number of a document, or a time.
        allow_partial: return the available part of a range that is not wholly covered.

    Returns:
        A dataset of the covered rows, with the columns of `lf.describe`.

    Raises:
        InputError: an argument breaks a rule.
        PartialResultError: the range is not wholly covered.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     store.scan("updates").count_rows()
        50
    """
    return part_of(self._lake, table, wanted_window(start, end), as_of, allow_partial=allow_partial).dataset


def part_of(
    lake: Lake, table: str, wanted: Window | None = None, as_of: AsOf | None = None, *, allow_partial: bool = False
) -> Part:
    """The part of a stored table in a window, all of it by default; raises as `scan` does."""
    declared(table)
    root = lake.existing(as_of)
    require(root, table, lake.url)
    return Part.of(root, table, wanted or Window(), allow_partial=allow_partial)


@suggesting
def dask(
    self: Store,
    table: str,
    *,
    columns: Iterable[str] | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    as_of: AsOf | None = None,
    allow_partial: bool = False,
    decimals: Decimals | None = None,
) -> Any:
    """Open a stored table as a Dask DataFrame, one partition per file; rows are read when computed.

    Workers find a folder under the same absolute path. `storage_options` are not sent to them: they take credentials
    and endpoint of an object store from their own environment.

    Args:
        self: the store.
        table: its name; `store.tables()` lists them.
        columns: the columns to keep; all by default.
        start: see `load`, as for `end`.
        end: exclusive.
        as_of: an older state: a sync's id, the number of a document, or a time.
        allow_partial: return the available part of a range that is not wholly covered.
        decimals: how it holds amounts; see `load`.

    Returns:
        A Dask DataFrame with the columns and types of `load`.

    Raises:
        InputError: Dask is not installed, or an argument breaks a rule.
        PartialResultError: the range is not wholly covered.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     len(store.dask("updates", columns=["update_id"]))
        50
    """
    check_shape("pandas", decimals)
    names = declared(table).pick(columns)
    part = part_of(self._lake, table, wanted_window(start, end), as_of, allow_partial=allow_partial)
    return dask_frame(self._lake, part, names, decimals=decimals or "float")


@overload
def sql(self: Store, query: str, *, as_: Literal["pandas"] = ..., **options: Unpack[SqlOptions]) -> pd.DataFrame: ...
@overload
def sql(self: Store, query: str, *, as_: Literal["arrow"], **options: Unpack[SqlOptions]) -> pa.Table: ...
@overload
def sql(self: Store, query: str, *, as_: Literal["polars"], **options: Unpack[SqlOptions]) -> Any: ...
@suggesting
def sql(
    self: Store, query: str, *, as_of: AsOf | None = None, allow_partial: bool = False,
    as_: As = "pandas", decimals: Decimals | None = None, parameters: Sequence[Any] | None = None,
) -> Any:  # fmt: skip
    """Query the store in DuckDB's SQL; tables and models have their own names.

    A computed table that the store keeps is read as stored, up to where rows are final. Every other model in the
    query is computed for it, like a view (`lf.models()` lists them); a model that is a function, such as
    `lf.coin_history`, returns what the function returns for the store, including its errors and warnings.

    Args:
        self: the store.
        query: one statement; `?` stands for parameters.
        as_of: an older state: a sync's id, the number of a document, or a time.
        allow_partial: read a history with gaps, and compute models from the available rows.
        as_: the form of the result.
        decimals: how pandas holds amounts; see `load`.
        parameters: values for the `?`, in order.

    Returns:
        The rows of the result, in the form named by `as_`; the query itself computes with exact decimals.

    Raises:
        InputError: the query is wrong.
        PartialResultError: a model needs a history that the store does not have.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     store.sql("select count(*) as updates from updates").updates[0].item()
        50
    """
    from ledgerframes.models import public
    from ledgerframes.models.engine import INPUTS, Engine, below, known, steps
    from ledgerframes.store.read.model_inputs import gives_of, known_of
    from ledgerframes.store.read.sql import ask

    models = known() - {*INPUTS}
    partly = flag(allow_partial, "allow_partial")
    root = self._lake.existing(as_of)

    def dataset(name: str) -> Any:
        if name in STORED and (root.shown(name).exists or name not in models):
            require(root, name, self._lake.url)
            return Part.of(root, name, Window(), allow_partial=partly).dataset
        function = getattr(public, name, None)
        if function is not None and as_of is None and not partly:
            return function(type(self)(self._lake.pinned(root)), as_="arrow")
        inputs = {*INPUTS}.intersection(lower for step in steps(name) for lower in below(step))
        for table in inputs if inputs <= {*SNAPSHOTS_READ} else ():
            require(root, table, self._lake.url)
        updates = Part.of(root, "updates", Window(), allow_partial=True)
        settings, begin = known_of(root, updates), updates.begins_late or (root.coverage.start if partly else None)
        if begin is not None:
            warn_of(Beginning(begin, proven=False), f"{name}: the store")
        if not updates.complete:
            warn(f"{name} is computed from what the store has of a history with gaps", IncompleteFiguresWarning)
        if name in _OF_BEGIN and not settings["begun"] and not partly:
            raise PartialResultError(
                f"{name} needs all of the history from ledger begin, and the store does not hold that; sync it from"
                " there without a gap, or pass allow_partial=True to compute it from what there is"
            )
        with Engine(gives_of(root, allow_partial=partly)) as engine:
            engine.set(settings)
            return engine.interruptible(lambda: engine.rows(name), name)

    names = [*dict.fromkeys((*models, *STORED))]
    return ask(query, dataset, names, stored=root.stored, as_=as_, decimals=decimals, parameters=parameters)
