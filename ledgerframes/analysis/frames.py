"""A caller's frame as Arrow columns, and results as the kind of frame that came in; every analysis uses it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.loaders.frames import exact, to_arrow
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.table import Table

_LOADERS: Final[Mapping[str, str]] = {
    "reassignments": "lf.load_reassignments or store.load('reassignments')",
    "events": "lf.load_events or store.load('events')",
}

_OPENING: Final = (
    'give the whole history (start="begin"), or opening= with the contracts active before it, as'
    ' active_contracts gives them, or opening="nothing" if you know that there were none'
)


def taken(frame: Any, table: Table, needed: Sequence[str], *, name: str) -> pa.Table:
    """The needed columns of a caller's frame, pandas, Arrow or polars, in the declared types.

    Raises:
        InputError: it is no frame, or a column is missing.
    """
    columns = frame.column_names if isinstance(frame, pa.Table) else getattr(frame, "columns", None)
    if columns is None:
        raise InputError(f"{name} is {type(frame).__name__}, not a frame; {_giver(table)} gives one")
    missing = [column for column in needed if column not in list(columns)]
    if missing:
        raise InputError(f"{name} has no column(s) {', '.join(missing)}; {_giver(table)} gives them")
    _check_times(frame, table, needed, name)
    found = to_arrow(frame, table, needed)
    schema = pa.schema([table.schema.field(column) for column in needed]).remove_metadata()
    nullable = pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003
    return found.cast(nullable)


def _check_times(frame: Any, table: Table, needed: Sequence[str], name: str) -> None:
    """Refuse times that say no zone, and texts in their place: which instant they mean would be a guess."""
    times = [column.name for column in table.columns if column.kind is TIME and column.name in needed]
    for column in times:
        kind = getattr(frame[column], "type", None) or frame[column].dtype
        if str(kind) in {"null", "Null", "object"} or getattr(kind, "tz", None) or getattr(kind, "time_zone", None):
            continue
        raise InputError(
            f"{name}: column {column!r} is {kind}, not times with a zone; pass it as loaded, or say the zone, for"
            f" example frame[{column!r}] = pd.to_datetime(frame[{column!r}], utc=True)"
        )


def given_back(data: pa.Table, like: Any, *, attrs: Mapping[str, Any] | None = None) -> Any:
    """A result in the form of what came in: pandas, Arrow or polars."""
    if isinstance(like, pa.Table):
        return data
    if not isinstance(like, pd.DataFrame):
        import polars as pl

        return pl.from_arrow(data)
    frame = pd.DataFrame({name: _series(data.column(name)) for name in data.column_names})
    frame.attrs.update(attrs if attrs is not None else attrs_of(like))
    return frame


def attrs_of(frame: Any) -> dict[str, Any]:
    """What a frame says about its origin; nothing where it cannot."""
    if isinstance(frame, pd.DataFrame):
        return dict(frame.attrs)
    if isinstance(frame, pa.Table):
        return dict(json.loads((frame.schema.metadata or {}).get(b"ledgerframes", b"{}")))
    return {}


def check_whole(frame: Any, *, name: str, opening: Any, advice: str = _OPENING) -> None:
    """Refuse a history that has a gap, or that begins after ledger begin while the caller does not say what was there.

    Raises:
        InputError: `opening` is another text than "nothing".
        PartialResultError: it is incomplete, begins later, or does not say.
    """
    if not hasattr(frame, "column_names") and not hasattr(frame, "columns"):
        raise InputError(f"{name} is {type(frame).__name__}, not a frame; lf.load_{name} gives one")
    if isinstance(opening, str) and opening != "nothing":
        raise InputError(f'opening={opening!r}: give a frame of contracts, or "nothing"')
    attrs = attrs_of(frame)
    if not attrs.get("complete", True) and "known_to" not in attrs:
        raise PartialResultError(f"{name} has a gap, for its load ended early; load it again, or {advice}")
    if opening is not None:
        return
    if not attrs:
        raise PartialResultError(f"{name} does not say where it begins (it has no attrs); {advice}")
    if not attrs.get("from_beginning"):
        raise PartialResultError(f"{name} does not begin at ledger begin (it is {attrs.get('range')!r}); {advice}")


def _series(column: pa.ChunkedArray) -> pd.Series:
    kind = column.type
    if pa.types.is_decimal(kind):
        return pd.Series(exact(column), dtype=object)
    if pa.types.is_list(kind):
        cells = [None if cell is None else tuple(cell) for cell in column.to_pylist()]
        return pd.Series(cells, dtype=object)
    if pa.types.is_timestamp(kind):
        return pd.Series(column.cast(pa.int64()).fill_null(_NAT).to_numpy().view("M8[us]")).dt.tz_localize("UTC")
    if pa.types.is_duration(kind):
        return pd.Series(column.cast(pa.int64()).fill_null(_NAT).to_numpy().view("m8[us]"))
    found: pd.Series = column.to_pandas(types_mapper=_DTYPES.get)
    return found


_NAT: Final = -(2**63)
_DTYPES: Final[Mapping[pa.DataType, Any]] = {
    pa.string(): pd.StringDtype(na_value=float("nan")),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def _giver(table: Table) -> str:
    return _LOADERS.get(table.name, f"lf.load_{table.name}")
