"""Events of the ledger interface as scan's events and reassignments, so that models read one's own ledger, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError
from ledgerframes.frames import to_arrow
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.ledger import LEDGER_EVENTS
from ledgerframes.tables.table import Table

#: The columns that give their order, which every one of these frames has.
_PLACED_BY: Final = ("update_id", "record_time", "kind", "node_id", "last_descendant_node_id")
#: The kinds of a reassignment's two legs, as scan calls them, and their columns.
_LEGS: Final = {"JsAssignmentEvent": "assignment", "JsUnassignedEvent": "unassignment"}
_OF_LEGS: Final = frozenset({*REASSIGNMENTS.names, "reassignment_id"})


def is_ledger_frame(names: Sequence[str]) -> bool:
    """Whether a frame with these columns contains events of the ledger interface."""
    return "node_id" in names and "event_type" not in names


def scan_tables(frame: Any, names: Sequence[str]) -> dict[str, pa.Table]:
    """The rows of a frame of `load_ledger_history(...).events` as scan's events and reassignments.

    Args:
        frame: pandas, Arrow or polars.
        names: its columns; those that it lacks are null.

    Raises:
        InputError: columns are missing that every such frame has, or times, which the contract makes optional.
    """
    there = [name for name in LEDGER_EVENTS.names if name in names and name in {*EVENTS.names, *_OF_LEGS}]
    rows = to_arrow(frame, LEDGER_EVENTS, [*dict.fromkeys([*_PLACED_BY, *there])], name="events")
    if timeless := rows["record_time"].null_count:
        raise InputError(
            f"events: {timeless:,} of {rows.num_rows:,} have no record_time, so nothing says when they were; the"
            " participant has to state it"
        )
    # A participant does not say of which migration an update is; record times alone give the order.
    rows = rows.append_column("migration_id", pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows))
    moved = pc.is_in(rows["kind"], pa.array([*_LEGS]))
    events, legs = rows.filter(pc.invert(moved)), rows.filter(moved)
    created = pc.starts_with(events["kind"], "Created")
    numbers, lasts = (pc.fill_null(events[name], -1).to_pylist() for name in ("node_id", "last_descendant_node_id"))
    shown = {
        "event_type": pc.if_else(created, "created_event", "exercised_event"),
        **tree_positions(events["update_id"].to_pylist(), numbers, lasts),
    }
    moves = {"kind": pa.array([_LEGS[kind] for kind in legs["kind"].to_pylist()], pa.string())}
    if "reassignment_id" in there:
        moves["unassign_id"] = legs["reassignment_id"]
    return {EVENTS.name: filled(events, EVENTS, shown), REASSIGNMENTS.name: filled(legs, REASSIGNMENTS, moves)}


def filled(rows: pa.Table, table: Table, more: Mapping[str, Any] = MappingProxyType({})) -> pa.Table:
    """The columns of a table that rows have, and others that are given; the rest is null."""
    have = {name: rows[name] for name in rows.column_names} | dict(more)
    nulls = {field.name: pa.nulls(rows.num_rows, field.type) for field in table.schema}
    return pa.table({name: have.get(name, empty) for name, empty in nulls.items()})


def tree_positions(updates: Sequence[str], numbers: Sequence[int], lasts: Sequence[int]) -> dict[str, pa.Array]:
    """Where each event is in its tree: below the last exercise before it whose descendants reach that far.

    Args:
        updates: the update of each event.
        numbers: its node there, -1 if not known.
        lasts: its last descendant's, -1 or its own if it has none.
    """
    parents: list[str | None] = [None] * len(updates)
    depths = [0] * len(updates)
    above: list[tuple[str, int, int]] = []
    for update, node, last, row in sorted(zip(updates, numbers, lasts, range(len(updates)), strict=True)):
        while above and (above[-1][0] != update or above[-1][2] < node):
            above.pop()
        if above and node >= 0:
            parents[row] = f"{update}:{above[-1][1]}"
            depths[row] = len(above)
        if last > node:
            above.append((update, node, last))
    ids = [f"{update}:{node}" for update, node in zip(updates, numbers, strict=True)]
    return {
        "event_id": pa.array(ids, pa.string()),
        "parent_event_id": pa.array(parents, pa.string()),
        "node_index": pa.array(numbers, pa.int64()),
        "depth": pa.array(depths, pa.int64()),
    }
