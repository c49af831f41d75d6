"""A page of scan's update history as the record batches of `updates`, `events` and `reassignments`.

Regular pages go straight from typed Structs to columns. A page with anything unusual goes through the lenient decoder,
item by item, and results in the same columns plus `extra`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import UNSET, Raw

from ledgerframes.decoding import columns as col
from ledgerframes.decoding.columns import SIX_DIGITS, Irregular
from ledgerframes.decoding.lenient import Origin, canonical_item
from ledgerframes.decoding.page_index import ENDPOINT
from ledgerframes.decoding.structs import NO_JSON, Item, Page, ReassignmentEvent
from ledgerframes.decoding.tree import Forest, TreeError, grow
from ledgerframes.errors import DecodeError
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import DAY, month_of

ALL: Final = frozenset({"updates", "events", "reassignments"})

_page = msgspec.json.Decoder(Page)
#: Record batches by table name, for the requested tables.
Batches = dict[str, pa.RecordBatch]
#: What every transaction has and no reassignment.
_of_transaction: Final = attrgetter(
    *("migration_id", "workflow_id", "synchronizer_id", "effective_at", "root_event_ids", "events_by_id")
)
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
        if any(UNSET in _of_transaction(items[at]) for at in self.transactions):
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


def _is_reassignment(item: Item) -> bool:
    return (
        all(member is UNSET for member in _of_transaction(item))
        and item.external_transaction_hash is UNSET
        and item.event is not UNSET
        and (item.event.created_event is UNSET) != (item.event.contract_id is UNSET)
    )


def _synchronizer(item: Item) -> str:
    event = item.event
    if event is UNSET:
        return item.synchronizer_id  # type: ignore[return-value]  # it was checked
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


def _filled(table: Table, own: dict[str, pa.Array], read: Callable[[str], Sequence[Any]]) -> dict[str, pa.Array]:
    """A table's columns: its own, and those that `read` has the members of the same name for."""
    return own | {one.name: col.column(one, read(one.name)) for one in table.columns if one.name not in own}


def _updates(taken: _Items, shared: _ItemColumns) -> dict[str, pa.Array]:
    items = taken.items

    def read(name: str) -> list[Any]:
        return _or_null(map(attrgetter(name), items))

    own = shared.columns | {
        "kind": col.text([_kind(item) for item in items]),
        "synchronizer_id": shared.synchronizers,
        # An empty workflow id means that none was set.
        "workflow_id": col.text([name or None for name in read("workflow_id")]),
        # A reassignment has one event, which is in a table of its own.
        "event_count": pa.array(
            [1 if item.events_by_id is UNSET else len(item.events_by_id) for item in items], pa.int64()
        ),
        "extra": col.text([taken.extras.get(position) for position in range(len(items))]),
    }
    return _filled(UPDATES, own, read)


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
            origin = Origin(endpoint, f"item {position} (update {item.update_id})", "events")
            raise origin.error("child_event_ids", str(error)) from error
        counts.append(len(forest.events) - before)
        if extra := taken.event_extras.get(position):
            notes += [(row, extra.get(forest.events[row].event_id)) for row in range(before, len(forest.events))]
    sizes = np.asarray(counts, np.int64)
    owners = np.repeat(np.asarray(shared.transactions, np.int64), sizes)
    extras: list[str | None] = [None] * len(forest.events)
    for row, note in notes:
        extras[row] = note
    events = forest.events
    template_ids, template_names = col.templates([event.template_id for event in events])
    own = shared.of(owners) | {
        "synchronizer_id": shared.synchronizers.take(pa.array(owners)),
        "node_index": pa.array(_count_up(sizes), pa.int64()),
        "parent_event_id": col.text(forest.parents),
        "depth": pa.array(forest.depths, pa.int64()),
        "template_id": template_ids,
        "template_name": template_names,
        "extra": col.text(extras),
    }
    return _filled(EVENTS, own, lambda name: list(map(attrgetter(name), events)))


def _count_up(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """0, 1, … counted again for every size."""
    ends = np.cumsum(sizes)
    index: np.ndarray[Any, Any] = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return index


def _reassignments(taken: _Items, shared: _ItemColumns) -> dict[str, pa.Array]:
    events: list[Any] = [taken.items[position].event for position in shared.reassignments]
    contracts = _or_null(event.created_event for event in events)

    def read(name: str) -> list[Any]:
        if name in ReassignmentEvent.__struct_fields__:
            return _or_null(map(attrgetter(name), events))
        nothing = NO_JSON if name == "payload" else None
        return [nothing if contract is None else getattr(contract, name) for contract in contracts]

    template_ids, template_names = col.templates(read("template_id"))
    own = shared.of(shared.reassignments) | {
        "kind": col.text([_kind(taken.items[position]) for position in shared.reassignments]),
        "contract_id": col.text([(event.created_event or event).contract_id for event in events]),
        "template_id": template_ids,
        "template_name": template_names,
        "extra": col.text([taken.event_extras.get(position, {}).get("") for position in shared.reassignments]),
    }
    return _filled(REASSIGNMENTS, own, read)
