"""Tables on standard output: as JSON, as `lf.show` on a terminal, or one line per row in a pipe; and in files."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from functools import wraps
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ledgerframes.cli.options import AsCsv, AsJson, Command, say, with_options
from ledgerframes.errors import InputError, visible
from ledgerframes.export.atomic_write import check_folder, refuse_taken, write_text, writing
from ledgerframes.number_format import rows_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

WORKBOOK: Final = ".xlsx"
_JSON: Final = ".json"
#: The endings of files with one table.
SINGLE: Final = (".parquet", ".csv", _JSON)
#: Names of standard output, for `--output`.
STDOUT: Final = ("-", "/dev/stdout")
#: The result of a command that prints a table.
Rows = Any
#: The same of one that can write it to a file, too.
Written = Any
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A file .parquet, .csv, .json or .xlsx, or - for CSV on standard output."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite existing files.")]


def printed(command: Command) -> Command:
    """Print the result of a command: rows as a table, as JSON or as CSV; a report or a text unchanged or as JSON.

    If there are no rows, standard error says so. A check with findings ends with 1. A command that returns `Written`
    has `--output`: its rows go to that file instead, under the name of the requested table.
    """
    returned = signature(command).return_annotation
    rows, writes = returned in {"Rows", "Written"}, returned == "Written"

    @wraps(command)
    def run(*, as_json: bool, as_csv: bool = False, output: Path | None = None, **arguments: Any) -> None:
        if as_json and as_csv:
            raise InputError("--json and --csv are two forms of one output; leave one out")
        overwrite = writes and arguments.pop("overwrite")
        name = arguments.get("table", "rows").replace("-", "_")
        if output is not None:
            if as_json or as_csv:
                raise InputError("--output takes its form from the file's ending; leave out --json or --csv")
            check_output(output, [name], what="the answer", overwrite=overwrite)
        result = command(**arguments)
        if output is not None:
            write_tables({name: result}, output, overwrite=overwrite)
        elif isinstance(result, str):
            say(result)
        elif hasattr(result, "columns"):
            _say_rows(result, as_json=as_json, as_csv=as_csv)
        elif result is not None:
            from ledgerframes.cli.app import in_its_words  # it imports this module

            say(result.to_json() if as_json else in_its_words(result))
            if not result:
                raise typer.Exit(1)

    options = ({"output": Output, "overwrite": Overwrite} if writes else {}) | {"as_json": AsJson}
    return with_options(run, command, options | ({"as_csv": AsCsv} if rows else {}))


def _say_rows(rows: pd.DataFrame | pa.Table, *, as_json: bool, as_csv: bool) -> None:
    """Print a frame, or an Arrow table; a terminal gets what `lf.show` gives, unless two columns have one name."""
    import pyarrow as pa

    from ledgerframes.showing import Reference, show

    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    if as_csv:
        say_csv("rows", table, personal=True)
    elif as_json:
        say(_json(table))
    elif not sys.stdout.isatty() or len({*table.column_names}) < table.num_columns:
        say(lines(table))
    elif isinstance(rows, Reference):
        say(rows)
    else:
        say(show(rows, rows=max(len(rows), 1)).text(shutil.get_terminal_size().columns))
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


def say_csv(name: str, table: pa.Table, *, personal: bool) -> None:
    """Print a table as CSV, as in a file; for a terminal, without control characters."""
    with TemporaryDirectory() as folder:
        text = write_files({name: table}, Path(folder) / "rows.csv", personal=personal)[name].read_bytes()
    if sys.stdout.isatty():
        say(text.decode().replace("\r\n", "\n").rstrip("\n"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def check_output(output: Path, tables: Collection[str], *, what: str, overwrite: bool) -> None:
    """Refuse an `--output` that the tables cannot go to, before they are loaded.

    Args:
        output: the file or the folder.
        tables: their names.
        what: what they are, in words.
        overwrite: whether existing files may be replaced.

    Raises:
        InputError: its ending names no format, a file is there, or one file or standard output would have to take
            several tables.
    """
    ending = output.suffix.lower()
    single = str(output) in STDOUT or ending in SINGLE
    if len(tables) > 1 and single:
        raise InputError(f"{what} is several tables; give a folder or a workbook ({WORKBOOK}), not {str(output)!r}")
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
    is_file = ending and not folder
    check_folder(output.parent if is_file else output)
    for file in [output] if is_file else [output / f"{name}.parquet" for name in tables]:
        with writing(file):
            refuse_taken(file, overwrite=overwrite)


def write_tables(tables: Mapping[str, pa.Table], output: Path, *, overwrite: bool, personal: bool = True) -> None:
    """Write tables to a file or a folder, and print the paths; or one table as CSV to standard output."""
    if str(output) in STDOUT:
        ((name, table),) = tables.items()
        say_csv(name, table, personal=personal)
        say(rows_text(table.num_rows), err=True)
        return
    for name, path in write_files(tables, output, personal=personal, overwrite=overwrite).items():
        say(f"{path}\t{rows_text(tables[name].num_rows)}")


def write_files(
    tables: Mapping[str, pa.Table], target: Path, *, personal: bool = True, overwrite: bool = False
) -> dict[str, Path]:
    """Write tables in the form of the target's ending, or as Parquet into a folder.

    CSV has lists as JSON text and formulas defused (`restore_text`), JSON is an array of objects; both have amounts
    as exact decimal text and times in UTC.

    Args:
        tables: Arrow tables by name; one alone for a file that is no workbook.
        target: the file or the folder; folders are made.
        personal: whether personal data is kept.
        overwrite: whether existing files may be replaced.

    Returns:
        The file of each table.

    Raises:
        InputError: the ending names no form, a column cannot be written, or the place cannot.
    """
    import pyarrow as pa

    from ledgerframes.export.exporting import export_tables
    from ledgerframes.export.sources import open_source

    with writing(target):
        other = target.suffix.lower() != _JSON or target.is_dir()
    if other:
        report = export_tables(tables, target, overwrite=overwrite, personal=personal)
        return {table.name: Path(table.files[0]) for table in report.tables}
    ((name, table),) = tables.items()
    opened = open_source(name, table, personal=personal)
    write_text(target, _json(pa.Table.from_batches(opened.batches, opened.schema), indent=1), overwrite=overwrite)
    return {name: target}


def lines(table: pa.Table) -> str:
    """One line per row, with whole ids and all digits; missing values are left empty."""
    import pyarrow as pa
    from rich.cells import cell_len

    columns = []
    for field, cells in zip(table.schema, table.columns, strict=True):
        texts = [visible(text) for text in (field.name, *map(_text, cells.to_pylist()))]
        wide = max(map(cell_len, texts))
        gaps = [" " * (wide - cell_len(text)) for text in texts]
        right = any(is_it(field.type) for is_it in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))
        columns.append([gap + text if right else text + gap for gap, text in zip(gaps, texts, strict=True)])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _text(value: Any) -> str:
    """A cell for people: an amount without the zeros at its end, which scripts get in JSON."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=_cell)
    text = _cell(value)
    return (text.rstrip("0").rstrip(".") or "0") if isinstance(value, Decimal) and "." in text else text


def _cell(value: Any) -> str:
    """The text of a value that JSON lacks."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
