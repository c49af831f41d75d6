"""Rebuilds the JSON items that the server sent from rows of `updates`, `events` and `reassignments`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct

from ledgerframes.decoding.personal import MARK
from ledgerframes.decoding.structs import (
    AssignedContract,
    CreatedEvent,
    ExercisedEvent,
    Member,
    Reassignment,
    ReassignmentEvent,
    Transaction,
    members_of,
)
from ledgerframes.errors import DecodeError, InputError

Row = Mapping[str, Any]
Grouped = tuple[Row, Sequence[Row], Row | None]

_KINDS: Final[Mapping[str, type[Struct]]] = {"created_event": CreatedEvent, "exercised_event": ExercisedEvent}
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


def _sent(struct: type[Struct], row: Row, **own: Any) -> dict[str, Any]:
    """The members that a Struct declares, out of a row; those that are optional and null were not sent.

    Args:
        struct: the members.
        row: their values, by the names of columns.
        own: values that are not in the row, or are other ones there.
    """
    members = {}
    for member in members_of(struct):
        value = own[member.name] if member.name in own else _as_sent(member, row[member.name])
        if value is not None or member.required:
            members[member.wire] = value
    return members


def _as_sent(member: Member, value: Any) -> Any:
    if value is not None and member.spell is not None:
        return member.spell(value)
    return read_json(value) if value is not None and member.decode is None else value


def _transaction(row: Row, events: Sequence[Row]) -> dict[str, Any]:
    by_id = {event["event_id"]: _event(event) for event in events}
    item = _sent(Transaction, row, workflow_id=row["workflow_id"] or "", events_by_id=by_id)
    return apply_extra(item, row["extra"])


def _event(row: Row) -> dict[str, Any]:
    kind = _KINDS.get(row["event_type"])
    # Every member of an unknown kind is in extra.
    event = {} if kind is None else {"event_type": row["event_type"], **_sent(kind, row)}
    return apply_extra(event, row["extra"])


def _reassignment(update: Row, row: Row) -> dict[str, Any]:
    assigned = row["kind"] == "assignment"
    created = _sent(AssignedContract, row, event_type="created_event") if assigned else None
    contract_id = None if assigned else row["contract_id"]
    event = _sent(ReassignmentEvent, row, contract_id=contract_id, created_event=created)
    return apply_extra(_sent(Reassignment, update, event=apply_extra(event, row["extra"])), update["extra"])


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
