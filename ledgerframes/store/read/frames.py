"""The coverage and the syncs of a store as frames, and a store in notebooks; `Store` returns them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from ledgerframes.results import html_table
from ledgerframes.store.coverage import BEGINNING, CLOSED, Coverage, intersection


def coverage_frame(coverage: Coverage) -> pd.DataFrame:
    """One row per covered interval."""
    rows = list(_rows(coverage))
    begin = coverage.begin
    begins = [begin if begin is not None and part[:2] == begin[:2] else None for part in rows]
    proven = [part.lo <= BEGINNING if one is None else one.proven for part, one in zip(rows, begins, strict=True)]
    latest = [None if one is None else one.late for one in begins]
    return pd.DataFrame(
        {
            "migration_id": pd.Series([part.migration_id for part in rows], dtype="int64"),
            "after": _times([None if part.lo <= BEGINNING else part.lo for part in rows]),
            "up_to": _times([None if part.hi >= CLOSED else part.hi for part in rows]),
            "settled": _times([part.settled if part.settled > part.lo else None for part in rows]),
            "from_beginning": pd.Series(proven, dtype="boolean"),
            "begins_late": _times([late.micros if late is not None else None for late in latest]),
            "to_end": pd.Series([part.hi >= CLOSED for part in rows], dtype=bool),
        }
    )


class _Row(NamedTuple):
    """A covered interval; its settled part follows `lo` without a gap."""

    migration_id: int
    lo: int
    hi: int
    settled: int


def _rows(coverage: Coverage) -> Iterator[_Row]:
    """The covered intervals, cut where another settled one begins."""
    for interval in coverage.common:
        final = intersection([interval], coverage.settled)
        bounds = [interval.lo, *(inner.lo for inner in final if inner.lo > interval.lo), interval.hi]
        ends = {inner.lo: inner.hi for inner in final}
        for lo, hi in pairwise(bounds):
            yield _Row(interval.migration_id, lo, hi, ends.get(lo, lo))


def runs_frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row per sync, with the main figures of its report."""
    reports = [json.loads(row["report"]) for row in rows]
    frame = pd.DataFrame(
        {
            "sync_id": pd.Series([row["sync_id"] for row in rows], dtype="str"),
            "finished_at": _times([row["finished_at"] for row in rows]),
            "complete": pd.Series([row["complete"] for row in rows], dtype=bool),
        }
    )
    for name in ("rows", "requests", "seconds", "error"):
        frame[name] = [report[name] for report in reports]
    return frame


def _times(micros: Sequence[int | None]) -> pd.Series:
    series: pd.Series = pa.array(micros, pa.timestamp("us", "UTC")).to_pandas()
    return series


def store_html(place: str, tables: pd.DataFrame, covered: pd.DataFrame) -> str:
    """The stored tables and the covered ranges as HTML tables."""
    columns = (tables["table"], tables["rows"], tables["bytes"])
    sizes = [(name, f"{rows:,}", f"{size / 1e6:,.1f}") for name, rows, size in zip(*columns, strict=True)]
    ranges = [
        (str(migration_id), _to_the_minute(after, "its start"), _to_the_minute(up_to, "its end"))
        for migration_id, after, up_to in zip(covered["migration_id"], covered["after"], covered["up_to"], strict=True)
    ]
    return html_table(f"Store {place}", ("table", "rows", "MB"), sizes) + html_table(
        "covered, in record time (UTC)", ("migration", "after", "up to"), ranges
    )


def _to_the_minute(moment: pd.Timestamp, absent: str) -> str:
    return absent if pd.isna(moment) else f"{moment:%Y-%m-%d %H:%M}"
