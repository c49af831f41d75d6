"""The table of figures as text or JSON, with the machine they were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledgerframes.decoding.compiled.choice import choice
from tests.benchmarks.measuring import ROUNDS, Row

LIBRARIES = ("pandas", "pyarrow", "msgspec", "orjson", "httpx", "numpy", "deltalake", "duckdb")
PAGE = (
    "# Figures",
    "",
    "Made by `make bench`. Each figure is next to a baseline of the same run; a ratio above 1 is better than the",
    "baseline, and an aim that was missed is marked `!`. Times are medians of rounds measured in turn; of pages and of",
    "`load_history` they are processor time. The syncs from a slow server and the memory are measured once.",
    "",
)
HEADING = ("what", "ours", "baseline", "theirs", "ratio", "aim", "MB/s")


def machine() -> dict[str, Any]:
    """Where the figures come from."""
    return {
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "decoder": str(choice()),
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def as_text(rows: list[Row]) -> str:
    """The table, with a line about the machine above it and one about the aims below."""
    lines = [", ".join(f"{name} {value}" for name, value in machine().items())]
    lines += [f"medians of {ROUNDS}, gc off, sides in turn; a ratio above 1 is better than the baseline", ""]
    cells = [HEADING, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADING))]
    for row in cells:
        left = {0, 2}
        parts = [
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join([*lines, "", closing(rows)])


def as_page(rows: list[Row], seconds: float) -> str:
    """The figures as a page of the documents."""
    table = [f"| {' | '.join(HEADING)} |", "|---|--:|---|--:|--:|--:|--:|"]
    table += [f"| {' | '.join(_cells(row))} |" for row in rows]
    reached = closing(rows).partition(";")[0]
    measured = f"{reached}. Measured on {datetime.now(UTC):%Y-%m-%d} in {seconds / 60:.0f} minutes, on:"
    where = [f"- {name}: {value}" for name, value in machine().items()]
    return "\n".join([*PAGE, *table, "", measured, "", *where, ""])


def _processor() -> str:
    """The processor's name, where the system says it."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in told.splitlines() if line.startswith("model name")), "?")


def as_data(rows: list[Row], seconds: float) -> dict[str, Any]:
    """The same as plain values."""
    found = [{**asdict(row), "ratio": row.ratio, "below_aim": row.below} for row in rows]
    return {"machine": machine(), "rows": found, "seconds": round(seconds, 1), "closing": closing(rows)}


def closing(rows: list[Row]) -> str:
    """One line: how many aims were reached, and which were not."""
    aimed = [row for row in rows if row.aim is not None and not row.skipped]
    missed = [f"{row.what} against {row.baseline} ({row.ratio:.2f} of {row.aim:g})" for row in aimed if row.below]
    skipped = sum(bool(row.skipped) for row in rows)
    reached = f"{len(aimed) - len(missed)} of {len(aimed)} aims reached"
    if missed:
        reached += f"; below: {', '.join(missed)}"
    return f"{reached}; {skipped} skipped" if skipped else reached


def _cells(row: Row) -> tuple[str, ...]:
    if row.skipped:
        return (row.what, "", row.baseline, "", "", "", f"skipped: {row.skipped}")
    aim = "" if row.aim is None else f"{row.aim:.3g}{' !' if row.below else '  '}"
    ours, theirs = (f"{value:,.1f} {row.unit}" for value in (row.ours, row.theirs))
    return (row.what, ours, row.baseline, theirs, f"{row.ratio:.2f}", aim, f"{row.speed:,.0f}" if row.speed else "")
