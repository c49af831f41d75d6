"""Converts frames between pandas, polars and Arrow; every loader, analysis and the store use it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.amounts import TEXT, in_pandas
from ledgerframes.arguments import choice
from ledgerframes.errors import InputError, visible
from ledgerframes.results import html_table
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import format_timestamp
from ledgerframes.version import __version__

T = TypeVar("T")

As = Literal["pandas", "arrow", "polars"]
Decimals = Literal["float", "exact", "arrow", "string"]
Lists = Literal["tuple", "arrow"]

_GIVERS: Final[Mapping[str, str]] = {
    "reassignments": "lf.load_reassignments or store.load('reassignments')",
    "events": "lf.load_events or store.load('events')",
}
#: What provenance states of a range as a whole, and a selection of its rows does not show.
_OF_A_RANGE: Final = frozenset(
    ("range", "end", "limit", "cursor", "complete", "from_beginning", "counted_from", "known_to", "settled")
)


def check_shape(as_: str, decimals: str | None, lists: str = "tuple") -> None:
    """Refuse an unknown `as_`, `decimals` or `lists` before anything is loaded.

    Raises:
        InputError: the value is not a known one, or polars is not installed.
    """
    choice(as_, "as_", get_args(As))
    if decimals is not None:
        choice(decimals, "decimals", get_args(Decimals))
    choice(lists, "lists", get_args(Lists))
    if as_ == "polars":
        _polars()


def shape(
    data: pa.Table,
    table: Table | None = None,
    *,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Convert Arrow data to the caller's form.

    Args:
        data: any columns of the table, in any order.
        table: its declaration: columns that it does not call nullable become numpy's int64 and bool in pandas.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how a pandas frame holds amounts: rounded to floats, as exact `Decimal` objects, as Arrow decimals, or
            as text; by default like the frame that it was computed from, according to its provenance, else floats.
        lists: how a pandas frame holds lists: as tuples, or as Arrow lists.
        attrs: provenance for `df.attrs`, or for the metadata of an Arrow table; polars cannot store it.

    Returns:
        A frame with the same rows and columns.
    """
    if as_ == "arrow":
        return data if attrs is None else described(data, attrs)
    if as_ == "polars":
        return _polars().from_arrow(data)
    form = decimals or decimals_of(attrs or {})
    never_null = set() if table is None else {column.name for column in table.columns if not column.nullable}
    # By position: a query may give several columns of one name.
    columns = {
        position: _series(column, nullable=name not in never_null, decimals=form, lists=lists)
        for position, (name, column) in enumerate(zip(data.column_names, data.columns, strict=True))
    }
    frame = pd.DataFrame(columns, index=pd.RangeIndex(data.num_rows))
    frame.columns = pd.Index(data.column_names)
    if attrs or any(pa.types.is_decimal(column.type) for column in data.columns):
        frame.attrs.update({**(attrs or {}), "decimals": form})
    return frame


def provenance(
    *,
    sources: Sequence[str],
    range: str,  # noqa: A002 - the attribute's name
    cursor: tuple[int, int] | None,
    complete: bool,
    from_beginning: bool | None = False,
    begins_late: tuple[int, int] | None = None,
    settled: tuple[int, int] | None = None,
    personal: bool = False,
    left_out: Sequence[str] = (),
    ends_early: bool = False,
    counted_from: int | None = None,
    bounds: Mapping[str, Any] | None = None,
    decimals: str = "float",
) -> dict[str, Any]:
    """The values for the `df.attrs` of a loaded frame; a place is a migration id and microseconds.

    Args:
        sources: scheme, host and path of the servers that answered.
        range: the requested range, in words.
        cursor: the last place read.
        complete: whether everything asked for is there. False if an error cut the result short and the caller allowed
            it, or if no server has an update at or after the `end` asked for, so that more may come before it.
        from_beginning: whether the result begins at ledger begin; None if unknown.
        begins_late: the first available place, if later than ledger begin and the result was to reach back to it.
        settled: of a store, the cursor up to which rows are final; between later ones more may appear.
        personal: whether the caller's settings keep personal data: `expand` and exports then do so too.
        left_out: members that were removed because they hold personal data.
        ends_early: no server has passed the `end` asked for, so what is missing may still come; `known_to` is then
            the last cursor.
        counted_from: the instant that the caller's `last` counts back from.
        bounds: where the range begins and ends, as in `Window.bounds`, or the `limit` that ends it.
        decimals: how the caller wants amounts to be held; tables computed from the frame follow it.
    """
    place = None if cursor is None else [cursor[0], format_timestamp(cursor[1])]
    final = None if settled is None else [settled[0], format_timestamp(settled[1])]
    return {
        "source": ", ".join(sources),
        "range": range,
        **(bounds or {}),
        "cursor": place,
        "complete": complete,
        "from_beginning": from_beginning,
        "begins_late": None if begins_late is None else format_timestamp(begins_late[1]),
        **({} if counted_from is None else {"counted_from": format_timestamp(counted_from)}),
        **({"known_to": place} if ends_early else {}),
        # Only if it is known: a load is a single read and proves nothing final.
        **({} if final is None else {"settled": final}),
        "version": __version__,
        **({} if decimals == "float" else {"decimals": decimals}),
        **({"personal": True} if personal else {}),
        **({"left_out": list(left_out)} if left_out else {}),
    }


def described(data: pa.Table, attrs: Mapping[str, Any]) -> pa.Table:
    """Arrow data with its provenance added to the schema's metadata."""
    return data.replace_schema_metadata({**(data.schema.metadata or {}), b"ledgerframes": json.dumps(attrs)})


def attrs_of(frame: Any) -> dict[str, Any]:
    """The provenance that a loader or a store attached to a frame; empty if there is none, as in polars.

    Args:
        frame: of pandas, or an Arrow table, batch, reader or dataset.
    """
    attrs = getattr(frame, "attrs", None)
    if isinstance(attrs, dict):
        return dict(attrs)
    metadata = getattr(getattr(frame, "schema", None), "metadata", None)
    try:
        provenance = json.loads((metadata or {}).get(b"ledgerframes", b"{}"))
    except (AttributeError, ValueError):
        return {}
    return provenance if isinstance(provenance, dict) else {}


def proof_of(frame: Any, rows: int | None = None) -> dict[str, Any]:
    """The provenance of a frame, as far as its rows still show it.

    pandas keeps `attrs` when rows are selected, but a selection does not show where a range begins and ends, or that
    it is complete. The provenance then has `selected_of`: how many rows were loaded.

    Args:
        frame: as in `attrs_of`.
        rows: how many rows it has, if it is no frame.
    """
    attrs = attrs_of(frame)
    loaded = attrs.pop("rows", None)
    if loaded is None or loaded == (len(frame) if rows is None else rows):
        return attrs
    kept = {name: value for name, value in attrs.items() if name not in _OF_A_RANGE}
    incomplete = {} if attrs.get("complete", True) else {"complete": False}
    return kept | incomplete | {"selected_of": loaded}


def to_arrow(frame: Any, table: Table, needed: Sequence[str], *, name: str | None = None) -> pa.Table:
    """Convert the needed columns of a caller's frame, of any form, to Arrow in the declared types.

    Args:
        frame: pandas, Arrow or polars.
        table: the declaration of the frame's table.
        needed: the columns.
        name: the frame's name in error messages; the table's name by default.

    Raises:
        InputError: it is not a frame, a column is missing, times have no zone, or values are of another kind.
    """
    name = name or table.name
    _check_columns(frame, needed, name=name, giver=_GIVERS.get(table.name, f"lf.load_{table.name}"))
    _check_times(frame, table, needed, name)
    columns = frame if isinstance(frame, pd.DataFrame | pa.Table) else frame.to_arrow()
    rows = {}
    for column in needed:
        kind = table.schema.field(column).type
        try:
            rows[column] = _array(columns[column], kind)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"{name}: column {column!r} does not hold {kind}: {error}; pass it as loaded") from error
    return pa.table(rows)


def _array(values: pd.Series | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """A column in its declared type; amounts that are all null come as floats, which Arrow would take for decimals."""
    if isinstance(values, pa.ChunkedArray):
        return values.cast(kind)
    if pa.types.is_decimal(kind) and pd.api.types.is_float_dtype(values.dtype):
        values = values.astype(object)
    return pa.array(values, kind, from_pandas=True)


def to_pandas(
    frame: Any, needed: Sequence[str] = (), *, name: str, giver: str, exact: Sequence[str] = ()
) -> pd.DataFrame:
    """Convert a caller's frame, of any form, to pandas with all its columns.

    Args:
        frame: pandas, Arrow or polars.
        needed: required columns.
        name: the frame's name in error messages.
        giver: the function that returns such a frame, for error messages.
        exact: columns of amounts that the caller needs exactly.

    Raises:
        InputError: it is not a frame, a column is missing, or an amount that is needed exactly is a float.
    """
    _check_columns(frame, needed, name=name, giver=giver)
    if isinstance(frame, pd.DataFrame):
        for column in exact:
            if pd.api.types.is_float_dtype(frame[column].dtype) and frame[column].notna().any():
                raise InputError(
                    f"{name} has floats in {column!r}, which are rounded, and every digit counts here; make it with"
                    f' decimals="exact", for example {giver}(…, decimals="exact")'
                )
        return frame
    columns = frame if isinstance(frame, pa.Table) else frame.to_arrow()
    result: pd.DataFrame = shape(columns, attrs=attrs_of(columns), decimals="exact" if exact else None)
    return result


def decimals_of(attrs: Mapping[str, Any]) -> Decimals:
    """How pandas holds amounts computed from a frame with this provenance: like that frame."""
    form: Decimals = attrs.get("decimals") or "float"
    return form


def _check_columns(frame: Any, needed: Sequence[str], *, name: str, giver: str) -> None:
    if not (isinstance(frame, pa.Table | pd.DataFrame) or hasattr(frame, "to_arrow")):
        raise InputError(f"{name} is {type(frame).__name__}, not a frame; {giver} returns one")
    names = list(frame.column_names if isinstance(frame, pa.Table) else getattr(frame, "columns", ()))
    missing = [column for column in needed if column not in names]
    if missing:
        raise InputError(f"{name} has no column(s) {', '.join(missing)}; {giver} returns them")
    twice = [column for column in needed if names.count(column) > 1]
    if twice:
        raise InputError(f"{name} has the column(s) {', '.join(twice)} twice; keep one of each")


def _check_times(frame: Any, table: Table, needed: Sequence[str], name: str) -> None:
    """Refuse times without a zone, and texts in place of times: their meaning in UTC would be a guess."""
    times = [column.name for column in table.columns if column.kind is TIME and column.name in needed]
    for column in times:
        kind = getattr(frame[column], "type", None) or frame[column].dtype
        kind = getattr(kind, "pyarrow_dtype", kind)
        if str(kind) in {"null", "Null"} or getattr(kind, "tz", None) or getattr(kind, "time_zone", None):
            continue
        if str(kind) == "object" and all(getattr(value, "tzinfo", None) for value in frame[column].dropna()):
            continue
        raise InputError(
            f"{name}: column {column!r} is {kind}, not times with a zone; pass it as loaded, or set the zone, for"
            f" example frame[{column!r}] = pd.to_datetime(frame[{column!r}], utc=True)"
        )


def _series(column: pa.ChunkedArray, *, nullable: bool, decimals: Decimals, lists: Lists) -> pd.Series:
    kind = column.type
    if pa.types.is_decimal(kind):
        return in_pandas(column, decimals)
    if pa.types.is_list(kind) and lists == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if pa.types.is_list(kind):
        return pd.Series(_tuples(column), dtype=object)
    if pa.types.is_timestamp(kind):
        micros = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).fill_null(_NAT)
        return pd.Series(micros.to_numpy().view("M8[us]")).dt.tz_localize("UTC")
    if pa.types.is_duration(kind):
        return pd.Series(column.cast(pa.int64()).fill_null(_NAT).to_numpy().view("m8[us]"))
    dtypes = {pa.string(): TEXT, **({pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()} if nullable else {})}
    series: pd.Series = column.to_pandas(types_mapper=dtypes.get)
    return series


_NAT: Final = -(2**63)
#: Joins the texts of a list, which hardly ever hold it.
_SEPARATOR: Final = "\x1f"


def _tuples(column: pa.ChunkedArray) -> np.ndarray:
    """List cells as tuples, since pandas cannot group by arrays; None if a list is null."""
    return np.concatenate([_objects([]), *map(_of_chunk, column.chunks)])


def _of_chunk(lists: pa.ListArray) -> np.ndarray:
    """The same of one chunk; each distinct list becomes one tuple, as most recur."""
    texts = lists.flatten()
    joinable = pa.types.is_string(texts.type) and not texts.null_count
    if not joinable or pc.any(pc.match_substring(texts, _SEPARATOR)).as_py():
        return _objects([None if cell is None else tuple(cell) for cell in lists.to_pylist()])
    coded = pc.binary_join(lists, _SEPARATOR).dictionary_encode()
    distinct = _objects([*(tuple(text.split(_SEPARATOR)) for text in coded.dictionary.to_pylist()), None])
    cells: np.ndarray = distinct[coded.indices.fill_null(-1).to_numpy()]
    empty = pc.equal(pc.list_value_length(lists), 0).fill_null(False)  # noqa: FBT003
    cells[empty.to_numpy(zero_copy_only=False)] = _objects([()])
    return cells


def _objects(values: list[Any]) -> np.ndarray:
    """Values as an array of objects; numpy would otherwise turn tuples into a matrix."""
    return np.fromiter(values, dtype=object, count=len(values))


def _polars() -> Any:
    try:
        import polars as pl
    except ImportError as error:
        raise InputError("as_='polars' needs polars; install it with: pip install 'ledgerframes[polars]'") from error
    return pl


def shown_by_rows(of: type[T]) -> type[T]:
    """Show a tuple of the frames of one load by their rows and their origin: as a line, and in notebooks as a table."""

    def parts(frames: Any) -> tuple[dict[str, Any], list[str]]:
        there = {table: frame for table, frame in frames._asdict().items() if frame is not None}
        attrs = attrs_of(next(iter(there.values()), None))
        stated = [str(attrs[part]) for part in ("range", "source") if part in attrs]
        return there, [*stated, *([] if attrs.get("complete", True) else ["not complete"])]

    def line(frames: Any) -> str:
        there, origin = parts(frames)
        rows = [f"{len(frame):,} {table}" for table, frame in there.items()]
        return visible(f"{of.__name__}({', '.join([*rows, *origin])})")

    def page(frames: Any) -> str:
        there, origin = parts(frames)
        rows = [
            (table, f"{len(frame):,}", ", ".join(map(str, getattr(frame, "column_names", None) or frame.columns)))
            for table, frame in there.items()
        ]
        return html_table(", ".join([of.__name__, *origin]), ("table", "rows", "columns"), rows)

    setattr(of, "__repr__", line)  # noqa: B010 - a tuple's class has its own, and checkers take that for final
    setattr(of, "_repr_html_", page)  # noqa: B010
    return of
