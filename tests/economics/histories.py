"""Histories for the tests of computed tables: frames of captured updates, or of those that a test writes by hand."""

from __future__ import annotations

import json
from functools import wraps
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pytest

from ledgerframes.decoding.history import decode_items
from ledgerframes.errors import IncompleteFiguresWarning
from ledgerframes.frames import shape
from ledgerframes.loaders.opening import Opening
from ledgerframes.tables.history import EVENTS
from tests.replay import read_capture

#: Provenance of a history that begins where the ledger does.
WHOLE = {"complete": True, "from_beginning": True, "range": "ledger begin to now"}


def incomplete(test):
    """Mark a test of figures that lack something: it fails unless a warning says so."""

    @wraps(test)
    def run(*args, **kwargs):
        with pytest.warns(IncompleteFiguresWarning):
            test(*args, **kwargs)

    return run


def frame_of(items: list[dict[str, Any]], **attrs: Any) -> pd.DataFrame:
    """The events of update items as `load_events` gives them, so that what is computed from them stays exact."""
    frame = shape(table_of(items), EVENTS)
    frame.attrs.update({"decimals": "exact", **attrs})
    return frame


def table_of(items: list[dict[str, Any]]) -> pa.Table:
    """The same as Arrow."""
    if not items:
        return EVENTS.schema.empty_table()
    batch = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates")["events"]
    return pa.Table.from_batches([batch])


def captured_items() -> list[dict[str, Any]]:
    """22 real updates of MainNet."""
    return [item["update"] for item in read_capture("scan-events-page").body["events"] if item.get("update")]


def captured_events() -> pd.DataFrame:
    """Their events."""
    return frame_of(captured_items())


def opening_of(contracts: list[tuple[str, str, dict[str, Any]]]) -> Opening:
    """An opening of whatever events, of contracts, each an id, a template's Module:Entity and its arguments."""
    created_at = pa.array([pd.Timestamp("2025-01-01", tz="UTC")] * len(contracts), pa.timestamp("us", "UTC"))
    rows = [
        {"contract_id": name, "template_name": template, "payload": json.dumps(arguments)}
        for name, template, arguments in contracts
    ]
    return Opening(pa.Table.from_pylist(rows).append_column("created_at", created_at))


def known(rows: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Rows as tuples, with None for what is null."""
    return [tuple(None if value is pd.NA or value is pd.NaT or value != value else value for value in row)
            for row in rows[[*columns]].itertuples(index=False)]  # fmt: skip
