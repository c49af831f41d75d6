"""What people write by hand: httpx, json and json_normalize. The baseline for loading; it is not careful about ties."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx
import pandas as pd

PAGE = 1000


class Frames(NamedTuple):
    """Two frames with a column a path in the JSON."""

    updates: pd.DataFrame
    events: pd.DataFrame


def flatten(items: list[dict[str, Any]]) -> Frames:
    """The items without their events, and their events, each flattened."""
    updates = [{name: value for name, value in item.items() if name != "events_by_id"} for item in items]
    events = [
        {**event, "update_id": item["update_id"]} for item in items for event in item.get("events_by_id", {}).values()
    ]
    return Frames(pd.json_normalize(updates), pd.json_normalize(events))


def load(scan_url: str, count: int) -> Frames:
    """The first `count` updates as frames, page by page after the last item of the one before."""
    items: list[dict[str, Any]] = []
    with httpx.Client(timeout=60) as client:
        while len(items) < count:
            answer = client.post(f"{scan_url}/v2/updates", json=request_after(items, count))
            answer.raise_for_status()
            items += answer.json()["transactions"]
    return flatten(items)


def request_after(items: list[dict[str, Any]], count: int) -> dict[str, Any]:
    """The body of the next request."""
    body: dict[str, Any] = {"page_size": min(PAGE, count - len(items))}
    if items:
        last = items[-1]
        migration_id = last["migration_id"] if "migration_id" in last else last["event"]["migration_id"]
        body["after"] = {"after_migration_id": migration_id, "after_record_time": last["record_time"]}
    return body
