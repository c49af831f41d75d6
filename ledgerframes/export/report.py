"""The result of an export: the answer of `lf.export`, for people, notebooks and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledgerframes.errors import visible
from ledgerframes.number_format import plural, rows_text
from ledgerframes.results import Result, html_table


@dataclass(frozen=True)
class ExportedTable:
    """One table of an export.

    Attributes:
        name: the table.
        rows: the number of rows written.
        bytes: size of its files; None in a workbook, whose tables share one file.
        files: their paths.
        cut: cells that were too long for a workbook's cell and end in a mark.
        left_out: rows that personal data was left out of.
    """

    name: str
    rows: int
    bytes: int | None
    files: tuple[str, ...]
    cut: int = 0
    left_out: int = 0


@dataclass(frozen=True)
class ExportReport(Result):
    """The files of an export and their contents.

    Attributes:
        target: the folder, or the workbook.
        format: "parquet", "csv" or "xlsx".
        tables: one entry per table, in the requested order.
        bytes: of all files.
        seconds: wall time.
    """

    target: str
    format: str
    tables: tuple[ExportedTable, ...]
    bytes: int
    seconds: float

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file once."""
        return tuple(dict.fromkeys(path for table in self.tables for path in table.files))

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return super().to_dict() | {"rows": self.rows}

    def __str__(self) -> str:
        return "\n".join([self._heading(), *(f"  {'  '.join(line)}".rstrip() for line in self._lines())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._heading(), ("table", "rows", "MB", "files", "note"), self._lines())

    def _heading(self) -> str:
        return (
            f"{plural(len(self.tables), 'table')}, {rows_text(self.rows)}, {self.bytes / 1e6:,.2f} MB of"
            f" {self.format} in {visible(self.target)}, {self.seconds:.1f} s"
        )

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            (
                visible(table.name),
                rows_text(table.rows),
                "" if table.bytes is None else f"{table.bytes / 1e6:,.2f} MB",
                visible(table.files[0]) if len(table.files) == 1 else f"{len(table.files):,} files",
                "; ".join(_notes(table)),
            )
            for table in self.tables
        ]


def _notes(table: ExportedTable) -> list[str]:
    notes = [f"{plural(table.cut, 'cell')} cut short"] if table.cut else []
    return notes + ([f"contact points left out of {rows_text(table.left_out)}"] if table.left_out else [])
