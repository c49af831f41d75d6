"""A page of scan's update history as the record batches of `updates`, `events` and `reassignments`.

Regular pages go straight from typed Structs to columns. A page with anything unusual in it takes the careful way,
item by item, and comes out as the same columns plus `extra`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import UNSET, Raw

from ledgerframes.decoding import columns as col
from ledgerframes.decoding.canonical import canonical_item, shorten, tree_error
from ledgerframes.decoding.columns import SIX_DIGITS, TRIMMED, Irregular
from ledgerframes.decoding.tree import Forest, TreeError, grow
from ledgerframes.decoding.wire import CreatedEvent, Event, ExercisedEvent, Item, OtherEvent, Page, RawPage
from ledgerframes.errors import DecodeError
from ledgerframes.instants import month_of
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES

ALL: Final = frozenset({"updates", "events", "reassignments"})
_DAY: Final = 86_400_000_000

_page = msgspec.json.Decoder(Page)
_raw_page = msgspec.json.Decoder(RawPage)


@dataclass(frozen=True)
class HistoryBatch:
    """Record batches by table name, for the tables that were asked for."""

    batches: dict[str, pa.RecordBatch]


@dataclass
class _Items:
    """Canonical items, with the differences of those that were not."""

    items: list[Item]
    extras: dict[int, str] = field(default_factory=dict)  # by position of the item
    event_extras: dict[int, dict[str, str]] = field(default_factory=dict)  # by position, then event id


def decode_page(
    body: bytes,
    *,
    endpoint: str = "POST /v2/updates",
    tables: Collection[str] = ALL,
    rows: Sequence[int] | None = None,
) -> HistoryBatch:
    """Turn the body of a page into columns (contract: Scan update history items).

    Args:
        body: the page as sent.
        endpoint: for messages.
        tables: which tables to build.
        rows: the positions of the items that count; all by default.

    Raises:
        DecodeError: the body breaks the contract; it names endpoint, table, column and item.
    """
    try:
        items = _page.decode(body).transactions
        return _columns(_Items(items if rows is None else [items[row] for row in rows]), endpoint, tables)
    except (msgspec.DecodeError, UnicodeDecodeError, Irregular, DecodeError, pa.ArrowException, RecursionError):
        pass  # the careful way finds out what it is
    try:
        raws = _raw_page.decode(body).transactions
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(
            f"{endpoint}: the answer is no page of updates ({error}): {shorten(body)}", endpoint=endpoint
        ) from error
    return decode_items(raws, endpoint=endpoint, tables=tables, rows=rows)


def decode_items(
    raws: Sequence[Raw | bytes], *, endpoint: str, tables: Collection[str] = ALL, rows: Sequence[int] | None = None
) -> HistoryBatch:
    """Turn single update items (as of the look-ups by id and by hash) into columns, the careful way.

    Raises:
        DecodeError: an item breaks the contract.
    """
    taken = _Items([])
    for position, row in enumerate(range(len(raws)) if rows is None else rows):
        try:
            item, own, of_events = canonical_item(raws[row], endpoint, row)
        except RecursionError as error:
            raise DecodeError(f"{endpoint}: item {row} is nested too deeply", endpoint=endpoint) from error
        taken.items.append(item)
        if (extra := own.text()) is not None:
            taken.extras[position] = extra
        ids = [""] if item.events_by_id is UNSET else item.events_by_id
        notes = {key: note.text() for key, note in zip(ids, of_events, strict=True)}
        taken.event_extras[position] = {key: note for key, note in notes.items() if note is not None}
    try:
        return _columns(taken, endpoint, tables)
    except (Irregular, pa.ArrowException) as error:
        raise DecodeError(f"{endpoint}: the page does not fit its columns: {error}", endpoint=endpoint) from error


def _columns(taken: _Items, endpoint: str, tables: Collection[str]) -> HistoryBatch:
    batches = {}
    places = _Places(taken.items)
    if "updates" in tables:
        batches["updates"] = col.batch(UPDATES, _updates(taken, places), endpoint)
    if "events" in tables:
        batches["events"] = col.batch(EVENTS, _events(taken, places, endpoint), endpoint)
    if "reassignments" in tables:
        batches["reassignments"] = col.batch(REASSIGNMENTS, _reassignments(taken, places), endpoint)
    return HistoryBatch(batches)


class _Places:
    """The columns that every table of the history begins with, and which item is what."""

    def __init__(self, items: list[Item]) -> None:
        self.transactions = [at for at, item in enumerate(items) if item.event is UNSET]
        self.reassignments = [at for at, item in enumerate(items) if item.event is not UNSET]
        for at in self.transactions:
            _check_transaction(items[at])
        for at in self.reassignments:
            _check_reassignment(items[at])
        self.record_time = col.canonical_times([item.record_time for item in items], SIX_DIGITS)
        days = np.asarray(self.record_time.cast(pa.int64())) // _DAY
        months = {day: month_of(int(day) * _DAY) for day in np.unique(days)}
        self.columns = {
            "migration_id": pa.array(
                [item.migration_id if item.event is UNSET else item.event.migration_id for item in items],
                pa.int64(),
            ),
            "record_time": self.record_time,
            "record_month": col.text([months[day] for day in days]),
            "update_id": col.text([item.update_id for item in items]),
        }
        self.synchronizers = [_synchronizer(item) for item in items]

    def of(self, positions: Any) -> dict[str, pa.Array]:
        """The first columns for rows that belong to the items at these positions."""
        index = pa.array(positions, pa.int64())
        return {name: column.take(index) for name, column in self.columns.items()}


def _check_transaction(item: Item) -> None:
    if (
        item.migration_id is UNSET
        or item.workflow_id is UNSET
        or item.synchronizer_id is UNSET
        or item.effective_at is UNSET
        or item.root_event_ids is UNSET
        or item.events_by_id is UNSET
    ):
        raise Irregular


def _check_reassignment(item: Item) -> None:
    if not (
        item.migration_id is UNSET
        and item.workflow_id is UNSET
        and item.synchronizer_id is UNSET
        and item.effective_at is UNSET
        and item.root_event_ids is UNSET
        and item.events_by_id is UNSET
        and item.external_transaction_hash is UNSET
        and item.event is not UNSET
        and (item.event.created_event is UNSET) != (item.event.contract_id is UNSET)
    ):
        raise Irregular


def _synchronizer(item: Item) -> str:
    event = item.event
    if event is UNSET:
        return item.synchronizer_id  # type: ignore[return-value]  # checked by _check_transaction
    return event.source_synchronizer if event.created_event is UNSET else event.target_synchronizer


def _kind(item: Item) -> str:
    if item.event is UNSET:
        return "transaction"
    return "unassignment" if item.event.created_event is UNSET else "assignment"


def _set(value: Any) -> Any:
    return None if value is UNSET else value


def _updates(taken: _Items, places: _Places) -> dict[str, pa.Array]:
    items, count = taken.items, len(taken.items)
    at = np.asarray(places.transactions, np.int64)
    transactions: list[Any] = [items[position] for position in places.transactions]
    effective = col.canonical_times([item.effective_at for item in transactions], SIX_DIGITS)
    roots = col.texts([item.root_event_ids for item in transactions], col.Rows(at, count))
    return places.columns | {
        "kind": col.text([_kind(item) for item in items]),
        "synchronizer_id": col.text(places.synchronizers),
        "effective_at": col.scatter([(at, effective)], count, effective.type),
        "workflow_id": col.text([_set(item.workflow_id) or None for item in items]),
        "root_event_ids": roots,
        "event_count": pa.array(
            [1 if item.events_by_id is UNSET else len(item.events_by_id) for item in items], pa.int64()
        ),
        "external_transaction_hash": col.text([_set(item.external_transaction_hash) for item in items]),
        "offset": col.text([_set(item.offset) for item in items]),
        "extra": col.text([taken.extras.get(position) for position in range(count)]),
    }


def _events(taken: _Items, places: _Places, endpoint: str) -> dict[str, pa.Array]:
    forest = Forest([], [], [])
    counts, notes = [], []
    for position in places.transactions:
        item: Any = taken.items[position]
        before = len(forest.events)
        try:
            grow(item.root_event_ids, item.events_by_id, forest)
        except TreeError as error:
            raise tree_error(error, endpoint, position, item.update_id) from error
        counts.append(len(forest.events) - before)
        if found := taken.event_extras.get(position):
            notes += [(row, found.get(forest.events[row].event_id)) for row in range(before, len(forest.events))]
    sizes = np.asarray(counts, np.int64)
    owners = np.repeat(np.asarray(places.transactions, np.int64), sizes)
    extras: list[str | None] = [None] * len(forest.events)
    for row, note in notes:
        extras[row] = note
    synchronizers = col.text(places.synchronizers)
    return places.of(owners) | _event_columns(forest) | {
        "synchronizer_id": synchronizers.take(pa.array(owners)),
        "node_index": pa.array(_count_up(sizes), pa.int64()),
        "extra": col.text(extras),
    }  # fmt: skip


def _count_up(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """0, 1, … anew for every size."""
    ends = np.cumsum(sizes)
    index: np.ndarray[Any, Any] = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return index


def _event_columns(forest: Forest) -> dict[str, pa.Array]:
    events = forest.events
    everywhere = col.every_row(len(events))
    created, exercised, other = (_Part(events, kind) for kind in (CreatedEvent, ExercisedEvent, OtherEvent))
    template_ids = col.text(list(map(attrgetter("template_id"), events)))

    def of_exercises(attribute: str, kind: pa.DataType) -> pa.Array:
        parts = [(part.rows.places, pa.array(part.get(attribute), kind)) for part in (exercised, other)]
        return col.scatter(parts, len(events), kind)

    def lists_of_exercises(attribute: str) -> pa.Array:
        if other.events:
            return of_exercises(attribute, pa.list_(pa.string()))
        return col.texts(exercised.get(attribute), exercised.rows)

    def payload() -> pa.Array:
        if not other.events:
            return col.raw_json(list(map(attrgetter("payload"), events)), everywhere)
        known = _Part(events, CreatedEvent, ExercisedEvent)
        return col.raw_json(known.get("payload"), known.rows)

    created_at = _trimmed(created.get("created_at"))
    return {
        "event_id": col.text(list(map(attrgetter("event_id"), events))),
        "parent_event_id": col.text(forest.parents),
        "depth": pa.array(forest.depths, pa.int64()),
        "event_type": col.text(list(map(attrgetter("event_type"), events))),
        "contract_id": col.text(list(map(attrgetter("contract_id"), events))),
        "template_id": template_ids,
        "template_name": col.template_names(template_ids),
        "package_name": col.text(list(map(attrgetter("package_name"), events))),
        "choice": of_exercises("choice", pa.string()),
        "consuming": of_exercises("consuming", pa.bool_()),
        "interface_id": of_exercises("interface_id", pa.string()),
        "acting_parties": lists_of_exercises("acting_parties"),
        "child_event_ids": lists_of_exercises("child_event_ids"),
        "signatories": col.texts(created.get("signatories"), created.rows),
        "observers": col.texts(created.get("observers"), created.rows),
        "created_at": col.scatter([(created.rows.places, created_at)], len(events), created_at.type),
        "payload": payload(),
        "exercise_result": col.raw_json(exercised.get("exercise_result"), exercised.rows),
    }


class _Part:
    """The events of some kinds, and their rows among all."""

    def __init__(self, events: Sequence[Event], *kinds: type) -> None:
        chosen = [type(event) in kinds for event in events]
        self.events = list(compress(events, chosen))
        self.rows = col.Rows(np.flatnonzero(chosen), len(events))

    def get(self, attribute: str) -> list[Any]:
        return list(map(attrgetter(attribute), self.events))


def _trimmed(values: Sequence[str]) -> pa.Array:
    return col.canonical_times(values, TRIMMED)


def _reassignments(taken: _Items, places: _Places) -> dict[str, pa.Array]:
    positions = places.reassignments
    items = [taken.items[position] for position in positions]
    events: list[Any] = [item.event for item in items]
    at = np.asarray([row for row, event in enumerate(events) if event.created_event is not UNSET], np.int64)
    contracts = [event.created_event for event in events if event.created_event is not UNSET]
    rows = col.Rows(at, len(events))
    contract_templates = col.text([contract.template_id for contract in contracts])

    def of_contract(column: pa.Array) -> pa.Array:
        return col.scatter([(at, column)], len(events), column.type)

    return places.of(positions) | {
        "kind": col.text([_kind(item) for item in items]),
        "submitter": col.text([event.submitter for event in events]),
        "source_synchronizer": col.text([event.source_synchronizer for event in events]),
        "target_synchronizer": col.text([event.target_synchronizer for event in events]),
        "unassign_id": col.text([_set(event.unassign_id) for event in events]),
        "reassignment_counter": pa.array([event.reassignment_counter for event in events], pa.int64()),
        "contract_id": col.text(
            [
                event.contract_id if event.created_event is UNSET else event.created_event.contract_id
                for event in events
            ]
        ),
        "event_id": of_contract(col.text([contract.event_id for contract in contracts])),
        "template_id": of_contract(contract_templates),
        "template_name": of_contract(col.template_names(contract_templates)),
        "package_name": of_contract(col.text([contract.package_name for contract in contracts])),
        "created_at": of_contract(_trimmed([contract.created_at for contract in contracts])),
        "signatories": col.texts([contract.signatories for contract in contracts], rows),
        "observers": col.texts([contract.observers for contract in contracts], rows),
        "payload": col.raw_json([contract.payload for contract in contracts], rows),
        "extra": col.text([taken.event_extras.get(position, {}).get("") for position in positions]),
    }  # fmt: skip
