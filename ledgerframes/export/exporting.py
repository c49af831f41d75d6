"""Writes tables from any source of Arrow batches to Parquet, CSV or a workbook; `lf.export` and stores call it."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import pyarrow as pa

from ledgerframes.arguments import choice, flag, path
from ledgerframes.errors import InputError, RoundedAmountsWarning, warn
from ledgerframes.export.atomic_write import Staging, writing
from ledgerframes.export.files import KEYS, CsvFile, ParquetFile, Partitions
from ledgerframes.export.report import ExportedTable, ExportReport
from ledgerframes.export.shape import Shape, Times, check_tables, shape_of
from ledgerframes.export.sources import Opened, Source, open_source
from ledgerframes.export.workbook import Sheets, Workbook
from ledgerframes.version import __version__

Format = Literal["parquet", "csv", "xlsx"]
Profile = Literal["bi", "exact"]
Layout = Literal["file", "hive"]

WORKBOOK: Final = "ledgerframes.xlsx"
_log = logging.getLogger(__name__)


#: A file, or several, being written.
Sink = ParquetFile | CsvFile | Partitions | Sheets


@dataclass(frozen=True)
class _Export:
    """The arguments of an export, checked.

    Raises:
        InputError: an argument is not valid.
    """

    sources: Mapping[str, Source]
    format: Format
    profile: Profile | None
    layout: Layout
    times: Times
    personal: bool | None

    def __post_init__(self) -> None:
        choice(self.format, "format", get_args(Format))
        choice(self.layout, "layout", get_args(Layout))
        choice(self.times, "times", get_args(Times))
        if self.profile is not None:
            choice(self.profile, "profile", get_args(Profile))
        if self.layout == "hive" and self.format != "parquet":
            raise InputError(f'layout="hive" is for Parquet; leave it out for {self.format!r}')
        if not isinstance(self.sources, Mapping) or not self.sources:
            raise InputError("data names no table; give a mapping from table names to their rows")
        check_tables(self.sources, sheets=self.format == "xlsx")

    def opened(self) -> Iterator[tuple[Opened, Shape]]:
        """The tables, each opened when its turn comes, and its shape in the export."""
        for name, source in self.sources.items():
            table = open_source(name, source, personal=self.personal)
            sheet = self.format == "xlsx"
            flat = sheet or self.profile == "bi"
            shape = shape_of(name, table.schema, flat=flat, times=self.times, twice=sheet)
            yield table, shape


@dataclass(frozen=True)
class WrittenTable:
    """A table written; its place is a file or a folder of files."""

    name: str
    rows: int
    place: Path
    schema: pa.Schema
    cut: int = 0
    lost: int = 0
    rounded: bool = False


@dataclass(frozen=True)
class Companion:
    """Files and folders that belong to an export and are written with it, whole or not at all.

    Attributes:
        names: the names of the tables.
        write: writes them, once all tables are written, at the places that it is given by these names.
        older: the names that an earlier export of the kind has in the folder; they go if this one does not write them.
    """

    names: tuple[str, ...]
    write: Callable[[Sequence[WrittenTable], Mapping[str, Path]], None]
    older: tuple[str, ...] = ()


def export_tables(
    sources: Mapping[str, Source],
    target: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002 - the word that pandas, polars and Delta use
    profile: Profile | None = None,
    layout: Layout = "file",
    times: Times = "us",
    overwrite: bool = False,
    provenance: Mapping[str, Any] | None = None,
    personal: bool | None = None,
    companion: Companion | None = None,
) -> ExportReport:
    """Write tables to files; `lf.export` is the public function and documents the arguments.

    A companion's files are written next to the tables.

    Raises:
        InputError: an argument, a name or a column that cannot be exported, a place that is taken or cannot be written.
        ConfigurationError: format="xlsx" without xlsxwriter.
    """
    start, format = time.perf_counter(), format_of(target, format, layout)  # noqa: A001
    request, origin = _Export(sources, format, profile, layout, times, personal), _origin(provenance)
    folder, name = _place(path(target, "path"), request)
    with Staging(folder, overwrite=flag(overwrite, "overwrite")) as staging:
        beside = {} if companion is None else {name: staging.place(name) for name in companion.names}
        written = (_workbook if format == "xlsx" else _files)(request, origin, staging, name)
        if companion is not None:
            with writing(staging.final(companion.names[0])):
                companion.write(written, beside)
            staging.supersede(companion.older)
        staging.commit()
    report = _report(written, folder / name, request, time.perf_counter() - start)
    for table in report.tables:
        if table.cut:
            _log.warning("%s: %d cells are longer than a workbook's can be and were cut short", table.name, table.cut)
    if rounded := [table.name for table in written if table.rounded]:
        warn(
            f"the frames of {', '.join(rounded)} hold floats, as pandas does with amounts by default, so the files have"
            f" rounded amounts; for exact ones write lf.export(history, path, tables={rounded}) if these tables are"
            ' computed, or make the frames with decimals="exact" or as_="arrow"',
            RoundedAmountsWarning,
        )
    return report


def format_of(target: str | os.PathLike[str], format: Format | None, layout: Layout = "file") -> Format:  # noqa: A002
    """The format of an export: the caller's choice, or the ending of the target, or Parquet for a folder.

    Raises:
        InputError: the ending names another format, or none; the system takes no such name.
    """
    place = Path(path(target, "path"))
    with writing(place):
        folder = place.is_dir()
    ending = place.suffix.lower()
    known = [f".{name}" for name in get_args(Format)]
    if not ending or folder or layout != "file" or format not in (None, *get_args(Format)):
        return "parquet" if format is None else format
    if ending not in known:
        raise InputError(
            f"{os.fspath(target)!r}: the ending is not valid: give a file ending in {', '.join(known)}, or a"
            " folder whose name has no dot"
        )
    if format not in (None, ending[1:]):
        raise InputError(f"format={format!r} and the ending of {os.fspath(target)!r} differ; leave one of them out")
    return cast("Format", ending[1:])


def _origin(provenance: Mapping[str, Any] | None) -> str:
    try:
        return json.dumps({"version": __version__, **(provenance or {})}, ensure_ascii=False)
    except TypeError as error:
        raise InputError(f"provenance is not JSON: {error}; give texts, numbers, lists and mappings") from error


def _place(target: str | os.PathLike[str], request: _Export) -> tuple[Path, str]:
    """The folder, and the name in it of the workbook or of the only table's file; else nothing."""
    path = Path(target)
    if path.suffix.lower() != f".{request.format}" or request.layout == "hive" or path.is_dir():
        return path, WORKBOOK if request.format == "xlsx" else ""
    if request.format != "xlsx" and len(request.sources) > 1:
        raise InputError(
            f"{os.fspath(target)!r} is one file, and there are {len(request.sources)} tables; name a folder, or a"
            " workbook (.xlsx)"
        )
    return path.parent, path.name


def _files(request: _Export, origin: str, staging: Staging, only: str) -> list[WrittenTable]:
    ending = "" if request.layout == "hive" else f".{request.format}"
    files = {name: only or name + ending for name in request.sources}
    paths = {name: staging.place(file) for name, file in files.items()}
    written = []
    for table, shape in request.opened():
        place = staging.final(files[table.name])
        with writing(place):
            sink = _sink(request, table, _schema(table, shape, origin), shape, paths[table.name])
        written.append(_poured(table, shape, sink, place))
    return written


def _poured(table: Opened, shape: Shape, sink: Sink, place: Path) -> WrittenTable:
    """Write all rows of a table to a sink and close it; or release it if anything fails."""
    try:
        for batch in table.batches:
            shaped = shape.apply(batch)
            with writing(place):
                sink.add(shaped)
        with writing(place):
            sink.close()
    except BaseException:
        sink.give_up()
        raise
    cut = sink.cut if isinstance(sink, Sheets) else 0
    return WrittenTable(table.name, sink.rows, place, shape.schema, cut, table.lost.total(), table.rounded)


def _sink(request: _Export, table: Opened, schema: pa.Schema, shape: Shape, path: Path) -> Sink:
    if request.format == "csv":
        return CsvFile(path, schema, foreign=shape.foreign)
    if request.layout == "file":
        return ParquetFile(path, schema, table=table.name)
    if set(KEYS) <= set(schema.names):
        return Partitions(path, schema, table=table.name)
    path.mkdir()
    return ParquetFile(path / "part-0.parquet", schema, table=table.name)


def _schema(table: Opened, shape: Shape, origin: str) -> pa.Schema:
    """A table's schema with its own provenance, that of the export, and where personal data was left out."""
    attributes = json.dumps({**table.origin, **json.loads(origin)}, ensure_ascii=False, default=str, skipkeys=True)
    return shape.schema.with_metadata({**(table.schema.metadata or {}), b"ledgerframes": attributes.encode()})


def _workbook(request: _Export, origin: str, staging: Staging, name: str) -> list[WrittenTable]:
    place = staging.final(name)
    book = Workbook(staging.place(name), scratch=staging.scratch)
    written, shapes, about = [], {}, {"ledgerframes": origin}
    try:
        for table, shape in request.opened():
            with writing(place):
                sheets = Sheets(book, table.name, shape)
            written.append(_poured(table, shape, sheets, place))
            shapes[table.name] = shape
            if left_out := table.origin.get("left_out"):
                about[f"left out of {table.name}"] = ", ".join(left_out)
        with writing(place):
            book.about(about, shapes)
            book.close()
    finally:
        book.give_up()
    return written


def _report(written: list[WrittenTable], target: Path, request: _Export, seconds: float) -> ExportReport:
    tables: list[ExportedTable] = []
    sizes: dict[str, int] = {}
    for file in written:
        paths = sorted(file.place.rglob("*.parquet")) if file.place.is_dir() else [file.place]
        own = {str(path): path.stat().st_size for path in paths}
        sizes |= own
        size = None if request.format == "xlsx" else sum(own.values())
        tables.append(ExportedTable(file.name, file.rows, size, tuple(own), file.cut, file.lost))
    return ExportReport(str(target), request.format, tuple(tables), sum(sizes.values()), seconds)
