"""The page of figures, with the machine they were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledgerframes.decoding.pages import choice
from tests.benchmarks.measuring import Row

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


def as_page(rows: list[Row], seconds: float) -> str:
    """The figures as a page of the documents."""
    table = [f"| {' | '.join(HEADING)} |", "|---|--:|---|--:|--:|--:|--:|"]
    table += [f"| {' | '.join(_cells(row))} |" for row in rows]
    aimed = [row for row in rows if row.aim is not None and not row.skipped]
    reached = f"{sum(not row.below for row in aimed)} of {len(aimed)} aims reached"
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


def _cells(row: Row) -> tuple[str, ...]:
    if row.skipped:
        return (row.what, "", row.baseline, "", "", "", f"skipped: {row.skipped}")
    aim = "" if row.aim is None else f"{row.aim:.3g}{' !' if row.below else '  '}"
    ours, theirs = (f"{value:,.1f} {row.unit}" for value in (row.ours, row.theirs))
    return (row.what, ours, row.baseline, theirs, f"{row.ratio:.2f}", aim, f"{row.speed:,.0f}" if row.speed else "")
