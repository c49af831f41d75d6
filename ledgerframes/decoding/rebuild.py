"""Rebuilds the JSON items that the server sent from rows of `updates`, `events` and `reassignments`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.personal import MARK
from ledgerframes.errors import DecodeError, InputError
from ledgerframes.timestamps import format_timestamp, format_trimmed

Row = Mapping[str, Any]
Grouped = tuple[Row, Sequence[Row], Row | None]

_CREATED: Final = "created_event"
_EXERCISED: Final = "exercised_event"
_ABSENT: Final = "absent"


def read_json(text: str) -> Any:
    """Read JSON with exact decimals.

    Raises:
        DecodeError: Python cannot represent it: a number of thousands of digits or with an exponent beyond `Decimal`,
            or too many levels. The text itself is complete.
    """
    try:
        # Amounts have up to 38 digits, and a float keeps 17.
        return json.loads(text, parse_float=Decimal)
    except (ValueError, InvalidOperation, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else type(error).__name__
        raise DecodeError(
            f"the JSON that begins {text[:80]!r} cannot become Python values: {why[:200]}; use its text instead"
        ) from error


def row_dicts(data: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Rows as dictionaries, times as integer microseconds."""
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in data.columns]
    rows: list[dict[str, Any]] = pa.table(columns, names=data.schema.names).to_pylist()
    return rows


def by_update(tables: Mapping[str, pa.Table | pa.RecordBatch]) -> list[Grouped]:
    """Each row of `updates`, with its events in their order, and its row of `reassignments` if there is one."""
    events: dict[str, list[Row]] = {}
    for row in row_dicts(tables["events"]):
        events.setdefault(row["update_id"], []).append(row)
    legs = {row["update_id"]: row for row in row_dicts(tables["reassignments"])}
    updates = row_dicts(tables["updates"])
    return [(row, events.get(row["update_id"], []), legs.get(row["update_id"])) for row in updates]


def rebuild_rows(rows: Iterable[Grouped]) -> Iterator[dict[str, Any]]:
    """Rebuild the items, in the order of the updates."""
    for row, events, leg in rows:
        yield _transaction(row, events) if row["kind"] == "transaction" else _reassignment(row, leg or {})


def _transaction(row: Row, events: Sequence[Row]) -> dict[str, Any]:
    item = {
        "update_id": row["update_id"],
        "migration_id": row["migration_id"],
        "workflow_id": row["workflow_id"] or "",
        "record_time": format_timestamp(row["record_time"]),
        "synchronizer_id": row["synchronizer_id"],
        "effective_at": format_timestamp(row["effective_at"]),
        "root_event_ids": list(row["root_event_ids"]),
        "events_by_id": {event["event_id"]: _event(event) for event in events},
    }
    for name in ("offset", "external_transaction_hash"):
        if row[name] is not None:
            item[name] = row[name]
    return apply_extra(item, row["extra"])


def _event(row: Row) -> dict[str, Any]:
    if row["event_type"] == _CREATED:
        event = {"event_type": _CREATED, "event_id": row["event_id"], **_contract(row)}
    elif row["event_type"] == _EXERCISED:
        event = {
            "event_type": _EXERCISED,
            "event_id": row["event_id"],
            "contract_id": row["contract_id"],
            "template_id": row["template_id"],
            "package_name": row["package_name"],
            "choice": row["choice"],
            "choice_argument": read_json(row["payload"]),
            "child_event_ids": list(row["child_event_ids"]),
            "exercise_result": read_json(row["exercise_result"]),
            "consuming": row["consuming"],
            "acting_parties": list(row["acting_parties"]),
            "interface_id": row["interface_id"],
        }
    else:
        event = {}  # every member of an unknown kind is in extra
    return apply_extra(event, row["extra"])


def _contract(row: Row) -> dict[str, Any]:
    return {
        "contract_id": row["contract_id"],
        "template_id": row["template_id"],
        "package_name": row["package_name"],
        "create_arguments": read_json(row["payload"]),
        "created_at": format_trimmed(row["created_at"]),
        "signatories": list(row["signatories"]),
        "observers": list(row["observers"]),
    }


def _reassignment(update: Row, row: Row) -> dict[str, Any]:
    event = {
        "submitter": row["submitter"],
        "source_synchronizer": row["source_synchronizer"],
        "target_synchronizer": row["target_synchronizer"],
        "migration_id": row["migration_id"],
        "reassignment_counter": row["reassignment_counter"],
    }
    if row["unassign_id"] is not None:
        event["unassign_id"] = row["unassign_id"]
    if row["kind"] == "assignment":
        event["created_event"] = {"event_type": _CREATED, "event_id": row["event_id"], **_contract(row)}
    else:
        event["contract_id"] = row["contract_id"]
    item = {
        "update_id": update["update_id"],
        "record_time": format_timestamp(update["record_time"]),
        "event": apply_extra(event, row["extra"]),
    }
    if update["offset"] is not None:
        item["offset"] = update["offset"]
    return apply_extra(item, update["extra"])


def apply_extra(item: dict[str, Any], extra: str | None) -> dict[str, Any]:
    """Restore the content of the `extra` column: values by JSON pointer, and members that were absent.

    Raises:
        InputError: the row says that something was left out of it.
    """
    if extra is None:
        return item
    notes = read_json(extra)
    if MARK in notes:
        raise InputError(
            f"history: {', '.join(map(str, notes[MARK]))} was left out of a row as personal data, so what "
            "the server sent cannot be rebuilt; load the history from the network, or from a lake that keeps it"
        )
    for pointer in notes.pop(_ABSENT, ()):
        parent, name = _parent(item, pointer)
        parent.pop(name, None)
    for pointer, value in notes.items():
        parent, name = _parent(item, pointer)
        parent[name] = value
    return item


def _parent(item: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    *steps, name = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    for step in steps:
        item = item[step]
    return item, name
