"""A page of scan's update history as the record batches of `updates`, `events` and `reassignments`.

Regular pages go straight from typed Structs to columns. A page with anything unusual goes through the lenient decoder,
item by item, and results in the same columns plus `extra`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import UNSET, Raw

from ledgerframes.decoding import columns as col
from ledgerframes.decoding.columns import SIX_DIGITS, TRIMMED, Irregular
from ledgerframes.decoding.lenient import canonical_item, tree_error
from ledgerframes.decoding.page_index import ENDPOINT
from ledgerframes.decoding.structs import NO_JSON, Item, Page
from ledgerframes.decoding.tree import Forest, TreeError, grow
from ledgerframes.errors import DecodeError
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.timestamps import DAY, month_of

ALL: Final = frozenset({"updates", "events", "reassignments"})

_page = msgspec.json.Decoder(Page)
#: Record batches by table name, for the requested tables.
Batches = dict[str, pa.RecordBatch]
_NO_REASSIGNMENTS: Final = pa.RecordBatch.from_pylist([], REASSIGNMENTS.schema)  # most pages have none


@dataclass
class _Items:
    """Items in canonical form, with the differences of those sent in another form."""

    items: list[Item]
    extras: dict[int, str] = field(default_factory=dict)  # by position of the item
    event_extras: dict[int, dict[str, str]] = field(default_factory=dict)  # by position, then event id


def decode_regular(body: bytes, *, tables: Collection[str], rows: Sequence[int] | None) -> Batches | None:
    """Turn the body of a page into columns (contract: Scan update history items), if nothing in it is unusual.

    Args:
        body: the page as sent.
        tables: which tables to build.
        rows: the positions of the items to decode; None for all.

    Returns:
        None if the lenient decoder has to read it, which may find out that it breaks the contract.
    """
    try:
        items = _page.decode(body).transactions
        return _columns(_Items(items if rows is None else [items[row] for row in rows]), ENDPOINT, tables)
    except (msgspec.DecodeError, UnicodeDecodeError, Irregular, DecodeError, pa.ArrowException, RecursionError):
        return None


def decode_items(
    raws: Sequence[Raw | bytes],
    *,
    endpoint: str,
    tables: Collection[str] = ALL,
    rows: Sequence[int] | None = None,
) -> Batches:
    """Turn single update items, as the look-ups by id and hash return them, into columns by the lenient decoder.

    Args:
        raws: the items as sent.
        endpoint: method and path, for messages.
        tables: which tables to build.
        rows: the positions of the items to decode; all by default.

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


def _columns(taken: _Items, endpoint: str, tables: Collection[str]) -> Batches:
    batches = {}
    shared = _ItemColumns(taken.items)
    if "updates" in tables:
        batches["updates"] = col.batch(UPDATES, _updates(taken, shared), endpoint)
    if "events" in tables:
        batches["events"] = col.batch(EVENTS, _events(taken, shared, endpoint), endpoint)
    if "reassignments" in tables:
        batches["reassignments"] = (
            col.batch(REASSIGNMENTS, _reassignments(taken, shared), endpoint)
            if shared.reassignments
            else _NO_REASSIGNMENTS
        )
    return batches


class _ItemColumns:
    """The first columns of every table of the history, and which items are transactions."""

    def __init__(self, items: list[Item]) -> None:
        self.transactions = [at for at, item in enumerate(items) if item.event is UNSET]
        self.reassignments = [at for at, item in enumerate(items) if item.event is not UNSET]
        # Rows are distinguished by this id alone.
        if not all(item.update_id for item in items):
            raise Irregular
        if not all(map(_is_transaction, map(items.__getitem__, self.transactions))):
            raise Irregular
        if not all(map(_is_reassignment, map(items.__getitem__, self.reassignments))):
            raise Irregular
        self.record_time = col.canonical_times([item.record_time for item in items], SIX_DIGITS)
        # A page spans few days, so months are computed by day and not by row.
        days = np.asarray(self.record_time.cast(pa.int64())) // DAY
        known, coded = np.unique(days, return_inverse=True)
        months = pa.array([month_of(int(day) * DAY) for day in known], pa.string())
        self.columns = {
            "migration_id": pa.array(
                [item.migration_id if item.event is UNSET else item.event.migration_id for item in items],
                pa.int64(),
            ),
            "record_time": self.record_time,
            "record_month": months.take(pa.array(coded)),
            "update_id": col.text([item.update_id for item in items]),
        }
        self.synchronizers = col.text([_synchronizer(item) for item in items])

    def of(self, positions: Any) -> dict[str, pa.Array]:
        """The first columns for rows that belong to the items at these positions."""
        index = pa.array(positions, pa.int64())
        return {name: column.take(index) for name, column in self.columns.items()}


def _is_transaction(item: Item) -> bool:
    return not (
        item.migration_id is UNSET
        or item.workflow_id is UNSET
        or item.synchronizer_id is UNSET
        or item.effective_at is UNSET
        or item.root_event_ids is UNSET
        or item.events_by_id is UNSET
    )


def _is_reassignment(item: Item) -> bool:
    return (
        item.migration_id is UNSET
        and item.workflow_id is UNSET
        and item.synchronizer_id is UNSET
        and item.effective_at is UNSET
        and item.root_event_ids is UNSET
        and item.events_by_id is UNSET
        and item.external_transaction_hash is UNSET
        and item.event is not UNSET
        and (item.event.created_event is UNSET) != (item.event.contract_id is UNSET)
    )


def _synchronizer(item: Item) -> str:
    event = item.event
    if event is UNSET:
        return item.synchronizer_id  # type: ignore[return-value]  # _is_transaction has checked
    # An unassignment is recorded on the synchronizer it leaves, an assignment on the one it reaches.
    return event.source_synchronizer if event.created_event is UNSET else event.target_synchronizer


def _kind(item: Item) -> str:
    if item.event is UNSET:
        return "transaction"
    # Items carry no type: an assignment has `created_event`, an unassignment `contract_id`.
    return "unassignment" if item.event.created_event is UNSET else "assignment"


def _or_null(values: Iterable[Any]) -> list[Any]:
    """The values, with None for members that were not sent."""
    return [None if value is UNSET else value for value in values]


def _updates(taken: _Items, shared: _ItemColumns) -> dict[str, pa.Array]:
    items = taken.items
    return shared.columns | {
        "kind": col.text([_kind(item) for item in items]),
        "synchronizer_id": shared.synchronizers,
        "effective_at": col.canonical_times(_or_null(item.effective_at for item in items), SIX_DIGITS),
        # An empty workflow id means that none was set.
        "workflow_id": col.text([name or None for name in _or_null(item.workflow_id for item in items)]),
        "root_event_ids": col.texts(_or_null(item.root_event_ids for item in items)),
        # A reassignment has one event, which is in a table of its own.
        "event_count": pa.array(
            [1 if item.events_by_id is UNSET else len(item.events_by_id) for item in items], pa.int64()
        ),
        "external_transaction_hash": col.text(_or_null(item.external_transaction_hash for item in items)),
        "offset": col.text(_or_null(item.offset for item in items)),
        "extra": col.text([taken.extras.get(position) for position in range(len(items))]),
    }


def _events(taken: _Items, shared: _ItemColumns, endpoint: str) -> dict[str, pa.Array]:
    forest = Forest([], [], [])
    counts, notes = [], []
    for position in shared.transactions:
        item: Any = taken.items[position]
        before = len(forest.events)
        try:
            # The map is sorted as text (`:10` before `:2`), so roots and child ids give the order.
            grow(item.root_event_ids, item.events_by_id, forest)
        except TreeError as error:
            raise tree_error(error, endpoint, position, item.update_id) from error
        counts.append(len(forest.events) - before)
        if extra := taken.event_extras.get(position):
            notes += [(row, extra.get(forest.events[row].event_id)) for row in range(before, len(forest.events))]
    sizes = np.asarray(counts, np.int64)
    owners = np.repeat(np.asarray(shared.transactions, np.int64), sizes)
    extras: list[str | None] = [None] * len(forest.events)
    for row, note in notes:
        extras[row] = note
    return shared.of(owners) | _event_columns(forest) | {
        "synchronizer_id": shared.synchronizers.take(pa.array(owners)),
        "node_index": pa.array(_count_up(sizes), pa.int64()),
        "extra": col.text(extras),
    }  # fmt: skip


def _count_up(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """0, 1, … counted again for every size."""
    ends = np.cumsum(sizes)
    index: np.ndarray[Any, Any] = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return index


def _event_columns(forest: Forest) -> dict[str, pa.Array]:
    events = forest.events

    def of_all(attribute: str) -> list[Any]:
        return list(map(attrgetter(attribute), events))

    template_ids, template_names = col.templates(of_all("template_id"))
    return {
        "event_id": col.text(of_all("event_id")),
        "parent_event_id": col.text(forest.parents),
        "depth": pa.array(forest.depths, pa.int64()),
        "event_type": col.text(of_all("event_type")),
        "contract_id": col.text(of_all("contract_id")),
        "template_id": template_ids,
        "template_name": template_names,
        "package_name": col.text(of_all("package_name")),
        "choice": col.text(of_all("choice")),
        "consuming": pa.array(of_all("consuming"), pa.bool_()),
        "interface_id": col.text(of_all("interface_id")),
        "acting_parties": col.texts(of_all("acting_parties")),
        "child_event_ids": col.texts(of_all("child_event_ids")),
        "signatories": col.texts(of_all("signatories")),
        "observers": col.texts(of_all("observers")),
        # Servers trim this time, and pad record time and effective time to six digits.
        "created_at": col.canonical_times(of_all("created_at"), TRIMMED),
        "payload": col.raw_json(of_all("payload")),
        "exercise_result": col.raw_json(of_all("exercise_result")),
    }


def _reassignments(taken: _Items, shared: _ItemColumns) -> dict[str, pa.Array]:
    events: list[Any] = [taken.items[position].event for position in shared.reassignments]
    contracts = _or_null(event.created_event for event in events)

    def of_contracts(attribute: str, otherwise: Any = None) -> list[Any]:
        return [otherwise if contract is None else getattr(contract, attribute) for contract in contracts]

    template_ids, template_names = col.templates(of_contracts("template_id"))
    return shared.of(shared.reassignments) | {
        "kind": col.text([_kind(taken.items[position]) for position in shared.reassignments]),
        "submitter": col.text([event.submitter for event in events]),
        "source_synchronizer": col.text([event.source_synchronizer for event in events]),
        "target_synchronizer": col.text([event.target_synchronizer for event in events]),
        "unassign_id": col.text(_or_null(event.unassign_id for event in events)),
        "reassignment_counter": pa.array([event.reassignment_counter for event in events], pa.int64()),
        "contract_id": col.text([(event.created_event or event).contract_id for event in events]),
        "event_id": col.text(of_contracts("event_id")),
        "template_id": template_ids,
        "template_name": template_names,
        "package_name": col.text(of_contracts("package_name")),
        "created_at": col.canonical_times(of_contracts("created_at"), TRIMMED),
        "signatories": col.texts(of_contracts("signatories")),
        "observers": col.texts(of_contracts("observers")),
        "payload": col.raw_json(of_contracts("payload", NO_JSON)),
        "extra": col.text([taken.event_extras.get(position, {}).get("") for position in shared.reassignments]),
    }
