"""Writing loaded tables: Parquet, CSV or JSON; each file whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.errors import InputError
from ledgerframes.export.atomic_write import Staging, writing
from ledgerframes.export.csv_files import CsvFile
from ledgerframes.export.exporting import export_tables
from ledgerframes.export.parquet import ParquetFile
from ledgerframes.export.shape import shape_of
from ledgerframes.export.sinks import Sink, pour
from ledgerframes.export.sources import open_source
from ledgerframes.export.texts import time_text


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
    """Write one table in the form its ending names: `.parquet`, `.csv`, `.json` or `.xlsx`.

    CSV has lists as JSON text and formulas defused (`restore_text`), JSON is an array of objects; both have amounts
    as exact decimal text and times in UTC. A file is written beside its place and moved there when it is whole, so a
    failed run leaves no partial file.

    Args:
        table: an Arrow table.
        path: the file; its folder is made if it is not there.

    Raises:
        InputError: the ending is not one of the four, or the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() == WORKBOOK:
        export_tables({"rows": table}, target, overwrite=True)
        return target
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise InputError(f"{str(target)!r}: the ending is not valid: give one of {', '.join((*WRITERS, WORKBOOK))}")
    with Staging(target.parent, overwrite=True) as staging:
        write(table, staging.place(target.name), target)
        staging.commit()
    return target


def _parquet(table: pa.Table, path: Path, target: Path) -> None:
    with writing(target):
        sink = ParquetFile(path, table.schema, table=target.stem)
    _pour(table, sink, target)


def _csv(table: pa.Table, path: Path, target: Path) -> None:
    shape = shape_of(target.stem, table.schema, flat=False)
    with writing(target):
        sink = CsvFile(path, shape.schema, foreign=shape.foreign)
    _pour(table, sink, target)


def _pour(table: pa.Table, sink: Sink, target: Path) -> None:
    pour(open_source(target.stem, table), shape_of(target.stem, table.schema, flat=False), sink, target)


def _json(table: pa.Table, path: Path, target: Path) -> None:
    columns = [_plain(column) for column in table.columns]
    rows = pa.table(columns, names=table.column_names).to_pylist()
    with writing(target):
        path.write_text(json.dumps(rows, default=_exact, ensure_ascii=False, indent=1), encoding="utf-8", newline="")


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    return pa.chunked_array([time_text(chunk) for chunk in column.chunks], pa.string())


def _exact(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


WORKBOOK: Final = ".xlsx"
WRITERS: Final[dict[str, Callable[[pa.Table, Path, Path], None]]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".json": _json,
}
