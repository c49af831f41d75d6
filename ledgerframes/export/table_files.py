"""Writes tables to the target of a command's `--output`: as JSON, or as an export does; each whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.export.atomic_write import write_text, writing
from ledgerframes.export.exporting import export_tables
from ledgerframes.export.texts import time_text

WORKBOOK: Final = ".xlsx"
_JSON: Final = ".json"
#: The endings of files with one table.
SINGLE: Final = (".parquet", ".csv", _JSON)


def write_files(tables: Mapping[str, pa.Table], target: Path) -> dict[str, Path]:
    """Write tables in the form of the target's ending, or as Parquet into a folder, replacing existing files.

    CSV has lists as JSON text and formulas defused (`restore_text`), JSON is an array of objects; both have amounts
    as exact decimal text and times in UTC.

    Args:
        tables: Arrow tables by name; one alone for a file that is no workbook.
        target: the file or the folder; folders are made.

    Returns:
        The file of each table.

    Raises:
        InputError: the ending names no form, a column cannot be written, or the place cannot.
    """
    with writing(target):
        other = target.suffix.lower() != _JSON or target.is_dir()
    if other:
        report = export_tables(tables, target, overwrite=True, personal=True)
        return {table.name: Path(table.files[0]) for table in report.tables}
    ((name, table),) = tables.items()
    rows = pa.table([_plain(column) for column in table.columns], names=table.column_names).to_pylist()
    write_text(target, json.dumps(rows, default=_exact, ensure_ascii=False, indent=1), overwrite=True)
    return {name: target}


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    return pa.chunked_array([time_text(chunk) for chunk in column.chunks], pa.string())


def _exact(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)
