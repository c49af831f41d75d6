"""What a store knows of itself, as frames: coverage and syncs; `Store` shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ledgerframes.instants import format_instant
from ledgerframes.store.intervals import BEGINNING, CLOSED, Interval


def coverage_frame(covered: Sequence[Interval]) -> pd.DataFrame:
    """One row a covered stretch."""
    return pd.DataFrame(
        {
            "migration_id": pd.Series([one.migration_id for one in covered], dtype="int64"),
            "after": _times([None if one.lo <= BEGINNING else one.lo for one in covered]),
            "up_to": _times([None if one.at >= CLOSED else one.at for one in covered]),
            "from_beginning": pd.Series([one.lo <= BEGINNING for one in covered], dtype=bool),
            "to_end": pd.Series([one.at >= CLOSED for one in covered], dtype=bool),
        }
    )


def runs_frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row a sync, with what its report says first."""
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
    texts = [None if one is None else format_instant(one) for one in micros]
    return pd.Series(pd.to_datetime(pd.Series(texts, dtype=object), utc=True)).astype("datetime64[us, UTC]")
