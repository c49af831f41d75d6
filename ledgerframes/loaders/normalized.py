"""Updates in a form that two servers, or a server and a store, must agree on; `cross_check` and `verify` compare it.

Left out is what may differ between honest servers: the offset, the event id of an assignment, nulls, members that the
contract does not know. Times are instants, payloads are compared as JSON values with exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.rebuild import by_update, read_json
from ledgerframes.errors import DecodeError
from ledgerframes.paging.cursor import Cursor

# Offsets and the event id of an assignment differ between honest servers; months and counts follow from the rest.
_LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "updates": frozenset({"offset", "extra", "record_month", "event_count"}),
    "events": frozenset({"extra", "record_month", "migration_id", "record_time", "update_id", "synchronizer_id"}),
    "reassignments": frozenset({"extra", "record_month", "migration_id", "record_time", "update_id", "event_id"}),
}
_JSON: Final = frozenset({"payload", "exercise_result"})


@dataclass(frozen=True)
class Canonical:
    """One update, ready to be compared.

    Attributes:
        place: its place in the history.
        update_id: which it is.
        members: what counts, nested.
    """

    place: Cursor
    update_id: str
    members: dict[str, Any]


def canonical_updates(tables: Mapping[str, pa.Table | pa.RecordBatch]) -> Iterator[Canonical]:
    """Updates out of the three tables of a history, in the order of `updates`.

    Args:
        tables: `updates`, `events` and `reassignments` of the same updates, with all columns.
    """
    for row, events, leg in by_update(tables):
        # By position in preorder: the text order of event ids puts `:10` before `:2`.
        own = sorted(events, key=lambda event: event["node_index"])
        members = _members("updates", row)
        members["events"] = [_members("events", event) for event in own]
        if leg is not None:
            members["event"] = _members("reassignments", leg)
        yield Canonical(Cursor(row["migration_id"], row["record_time"]), row["update_id"], members)


def first_difference(ours: Any, theirs: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """The first difference of two values: a JSON pointer and the value of each side."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted(ours.keys() | theirs.keys()):
            step = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in ours or name not in theirs:
                return step, ours.get(name), theirs.get(name)
            if (difference := first_difference(ours[name], theirs[name], step)) is not None:
                return difference
        return None
    if isinstance(ours, list) and isinstance(theirs, list):
        for number, (own, other) in enumerate(zip(ours, theirs, strict=False)):
            if (difference := first_difference(own, other, f"{path}/{number}")) is not None:
                return difference
        if len(ours) != len(theirs):
            return path or "/", f"{len(ours)} elements", f"{len(theirs)} elements"
        return None
    return None if ours == theirs else (path or "/", ours, theirs)


def _members(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    left_out = _LEFT_OUT[table]
    return {
        name: _plain_of(value) if name in _JSON else value
        for name, value in row.items()
        if value is not None and name not in left_out
    }


def _plain_of(text: str) -> Any:
    value = read_json(text)
    try:
        return _plain(value)
    except RecursionError as error:
        raise DecodeError(f"the JSON that begins {text[:80]!r} is nested too deeply to be compared") from error


def _plain(value: Any) -> Any:
    """JSON without nulls in objects, numbers in one spelling."""
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_plain(element) for element in value]
    # `1.0` and `1.00` are one number, and servers need not write it alike.
    return f"{value.normalize()}" if isinstance(value, Decimal) else value
