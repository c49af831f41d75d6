"""Writing loaded tables: Parquet, CSV or JSON; each file whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.errors import InputError
from ledgerframes.instants import format_instant


def write_parquet(tables: Mapping[str, pa.Table], folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Write each table as `NAME.parquet` (zstd), its columns' meanings in the schema.

    Args:
        tables: Arrow tables by name, as loaded with `as_="arrow"`.
        folder: where to; made if it is not there.

    Returns:
        The file of each table.

    Raises:
        InputError: the folder cannot be made or written.
    """
    return {name: write_file(table, Path(folder) / f"{name}.parquet") for name, table in tables.items()}


def write_file(table: pa.Table, path: str | os.PathLike[str]) -> Path:
    """Write one table in the form its ending names: `.parquet`, `.csv` or `.json`.

    CSV has lists as JSON text, JSON is an array of objects; both have amounts as exact decimal text and times in UTC.
    A file is written beside its place and moved there when it is whole, so a broken run leaves no half file.

    Args:
        table: an Arrow table.
        path: the file; its folder is made if it is not there.

    Raises:
        InputError: the ending is none of the three, or the file cannot be written.
    """
    target = Path(path)
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise InputError(f"{str(target)!r}: the ending is none of {', '.join(WRITERS)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, lambda sink: write(table, sink))
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error}; name another place or make room") from error
    return target


def _replace(path: Path, write: Callable[[BinaryIO], None]) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as sink:
            write(sink)
            sink.flush()
            os.fsync(sink.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _parquet(table: pa.Table, sink: BinaryIO) -> None:
    pq.write_table(table, sink, compression="zstd")


def _csv(table: pa.Table, sink: BinaryIO) -> None:
    from pyarrow import csv

    csv.write_csv(pa.table([_plain(column) for column in table.columns], names=table.column_names), sink)


def _json(table: pa.Table, sink: BinaryIO) -> None:
    columns = [_plain(column) if pa.types.is_timestamp(column.type) else column for column in table.columns]
    rows = pa.table(columns, names=table.column_names).to_pylist()
    sink.write(json.dumps(rows, default=_exact, ensure_ascii=False, indent=1).encode())


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that text can hold: lists as JSON, times as ISO-8601 with Z, amounts as exact decimals."""
    if pa.types.is_list(column.type):
        cells = [None if cell is None else json.dumps(cell, ensure_ascii=False) for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(cells, pa.string())])
    if pa.types.is_timestamp(column.type):
        cells = [None if micros is None else format_instant(micros) for micros in column.cast(pa.int64()).to_pylist()]
        return pa.chunked_array([pa.array(cells, pa.string())])
    if pa.types.is_decimal(column.type):
        cells = [None if amount is None else format(amount, "f") for amount in column.to_pylist()]
        return pa.chunked_array([pa.array(cells, pa.string())])
    return column


def _exact(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


WRITERS: Final[dict[str, Callable[[pa.Table, BinaryIO], None]]] = {".parquet": _parquet, ".csv": _csv, ".json": _json}
