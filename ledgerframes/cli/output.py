"""Tables on standard output: as JSON, fitted to the terminal, or one line per row in a pipe; and in files."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import wraps
from inspect import signature
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ledgerframes.cli.options import AsCsv, AsJson, Command, check_folder, say, with_options
from ledgerframes.errors import InputError, visible

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

WORKBOOK: Final = ".xlsx"
_JSON: Final = ".json"
#: The endings of files with one table.
SINGLE: Final = (".parquet", ".csv", _JSON)
#: Names of standard output, for `--output`.
STDOUT: Final = ("-", "/dev/stdout")
_NARROWEST: Final = 9  # characters per column; with fewer, a row becomes a list of its cells
_SHORT: Final = 24  # longest cell that is wrapped only as a last resort

#: Names and values, column by column.
Columns = Sequence[tuple[str, Sequence[Any]]]
TextColumns = Sequence[tuple[str, Sequence[str]]]
#: The result of a command that prints a table.
Rows = Any
#: The same of one that can write it to a file, too.
Written = Any
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A file .parquet, .csv, .json or .xlsx, or - for CSV on standard output."),
]


def printed(command: Command) -> Command:
    """Print the result of a command: rows as a table, as JSON or as CSV; a report or a text unchanged or as JSON.

    If there are no rows, standard error says so. A check with findings ends with 1. A command that returns `Written`
    has `--output`: its rows go to that file instead, under the name of the requested table.
    """
    returned = signature(command).return_annotation
    rows = returned in {"Rows", "Written"}

    @wraps(command)
    def run(*, as_json: bool, as_csv: bool = False, output: Path | None = None, **arguments: Any) -> None:
        if as_json and as_csv:
            raise InputError("--json and --csv are two forms of one output; leave one out")
        if output is not None:
            if as_json or as_csv:
                raise InputError("--output takes its form from the file's ending; leave out --json or --csv")
            check_output(output, tables="the answer", several=False)
        result = command(**arguments)
        if output is not None:
            write_tables({arguments.get("table", "rows"): result}, output)
        elif isinstance(result, str):
            say(result)
        elif hasattr(result, "columns"):
            _say_rows(result, as_json=as_json, as_csv=as_csv)
        elif result is not None:
            say(result.to_json() if as_json else str(result))
            if not result:
                raise typer.Exit(1)

    options = ({"output": Output} if returned == "Written" else {}) | {"as_json": AsJson}
    return with_options(run, command, options | ({"as_csv": AsCsv} if rows else {}))


def _say_rows(rows: pd.DataFrame | pa.Table, *, as_json: bool, as_csv: bool) -> None:
    """Print a frame, or an Arrow table."""
    import pyarrow as pa

    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    if as_csv:
        say_csv(table)
    elif as_json:
        say(_json(table))
    else:
        _say_columns([(name, cells.to_pylist()) for name, cells in zip(table.column_names, table.columns, strict=True)])
    if not len(rows):
        say("no rows", err=True)


def _json(table: pa.Table, indent: int | None = None) -> str:
    """An array of objects; times in UTC and amounts are exact text, floats that JSON cannot write are null.

    Raises:
        InputError: two columns have one name, of which an object has one member.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ledgerframes.export.texts import time_text

    names = table.column_names
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two columns are called {twice[0]!r}, and JSON has room for one; rename one of them")
    columns = [
        pa.chunked_array(map(time_text, column.chunks), pa.string()) if pa.types.is_timestamp(column.type)
        else pc.if_else(pc.is_finite(column), column, None) if pa.types.is_floating(column.type)
        else column
        for column in table.columns
    ]  # fmt: skip
    rows = pa.table(columns, names=names).to_pylist()
    return json.dumps(rows, default=_cell, ensure_ascii=False, indent=indent)


def say_csv(table: pa.Table) -> None:
    """Print a table as CSV, as in a file; for a terminal, without control characters."""
    with TemporaryDirectory() as folder:
        text = write_files({"rows": table}, Path(folder) / "rows.csv")["rows"].read_bytes()
    if sys.stdout.isatty():
        say(text.decode().rstrip("\n"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def check_output(output: Path, *, tables: str, several: bool) -> None:
    """Refuse an `--output` that the tables cannot go to, before they are loaded.

    Raises:
        InputError: its ending names no format, or one file or standard output would have to take several tables.
    """
    from ledgerframes.export.atomic_write import writing

    ending = output.suffix.lower()
    single = str(output) in STDOUT or ending in SINGLE
    if several and single:
        raise InputError(f"{tables} is several tables; give a folder or a workbook ({WORKBOOK}), not {str(output)!r}")
    if str(output) in STDOUT:
        return
    with writing(output):
        folder = output.is_dir()
    if ending and not single and ending != WORKBOOK and not folder:
        known = ", ".join((*SINGLE, WORKBOOK))
        raise InputError(
            f"--output {str(output)!r}: the ending is not valid: give a file ending in {known}, '-' for CSV on standard"
            " output, or a folder whose name has no dot"
        )
    check_folder(output.parent if ending and not folder else output)


def write_tables(tables: Mapping[str, pa.Table], output: Path) -> None:
    """Write tables to a file or a folder, and print the paths; or one table as CSV to standard output."""
    if str(output) in STDOUT:
        (table,) = tables.values()
        say_csv(table)
        say(f"{table.num_rows} rows", err=True)
        return
    for name, path in write_files(tables, output).items():
        say(f"{path}\t{tables[name].num_rows} rows")


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
    from ledgerframes.export.atomic_write import write_text, writing
    from ledgerframes.export.exporting import export_tables

    with writing(target):
        other = target.suffix.lower() != _JSON or target.is_dir()
    if other:
        report = export_tables(tables, target, overwrite=True, personal=True)
        return {table.name: Path(table.files[0]) for table in report.tables}
    ((name, table),) = tables.items()
    write_text(target, _json(table, indent=1), overwrite=True)
    return {name: target}


def _say_columns(columns: Columns) -> None:
    """Print columns to be read by people; a terminal gets lines that fit it, a pipe whole ids and all digits."""
    if sys.stdout.isatty():
        say(table_text(columns, width=shutil.get_terminal_size().columns, short=True))
    else:
        say(table_text(columns, width=None))


def table_text(columns: Columns, *, width: int | None, short: bool = False) -> str:
    """Columns as plain text; missing values are left empty.

    Args:
        columns: all of one length.
        width: characters per line; longer cells are wrapped, and with too many columns each row becomes a list.
            None: one line per row, however long.
        short: ids by their aliases or hints, amounts with two decimals.
    """
    shown = [(visible(name), [visible(_text(value)) for value in values]) for name, values in columns]
    if short:
        from ledgerframes.short_ids import short_names
        from ledgerframes.showing import cell

        texts = (value for _, values in columns for value in values if isinstance(value, str))
        ids = short_names(text for text in texts if "::" in text)
        shown = [(visible(name), [visible(cell(one, name, ids).words) for one in values]) for name, values in columns]
    right = [_numbers(values) for _, values in columns]
    if width is None:
        return _lines(shown, right)
    return _lists(shown) if len(shown) * _NARROWEST > width else _wrapped(shown, right, width)


def _text(value: Any) -> str:
    """A cell for people: an amount without the zeros at its end, which scripts get in JSON."""
    if isinstance(value, Decimal) and value.is_finite():
        text = format(value, "f")
        return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
    return _cell(value)


def _lines(shown: TextColumns, right: Sequence[bool]) -> str:
    """One line per row, with two blanks between columns."""
    from rich.cells import cell_len

    columns = []
    for (name, cells), to_right in zip(shown, right, strict=True):
        wide = max(map(cell_len, (name, *cells)))
        gaps = [" " * (wide - cell_len(cell)) for cell in (name, *cells)]
        pairs = zip(gaps, (name, *cells), strict=True)
        columns.append([gap + cell if to_right else cell + gap for gap, cell in pairs])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _wrapped(shown: TextColumns, right: Sequence[bool], width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for (name, cells), to_right in zip(shown, right, strict=True):
        short = max(map(len, cells), default=0) <= _SHORT
        table.add_column(Text(name), justify="right" if to_right else "left", overflow="fold", no_wrap=short)
    for row in zip(*(cells for _, cells in shown), strict=True):
        table.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    with console.capture() as text:
        console.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines())


def _lists(shown: TextColumns) -> str:
    wide = max(len(name) for name, _ in shown)
    rows = zip(*(cells for _, cells in shown), strict=True)
    names = [name.ljust(wide) for name, _ in shown]
    return "\n\n".join(
        "\n".join(f"{name}  {cell}".rstrip() for name, cell in zip(names, row, strict=True)) for row in rows
    )


def _numbers(values: Sequence[Any]) -> bool:
    return all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        for value in values
        if not _nothing(value)
    )


def _nothing(value: Any) -> bool:
    # NaT and NA by name: importing pandas takes longer than a shell's completion may.
    return value is None or type(value).__name__ in ("NaTType", "NAType") or (isinstance(value, float) and isnan(value))


def _cell(value: Any) -> str:
    if _nothing(value):
        return ""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, bool | list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=_cell)
    return str(value)
