"""Events of the ledger interface in the columns of scan's events, so that models read one's own ledger, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.frames import to_arrow
from ledgerframes.tables.history import EVENTS
from ledgerframes.tables.ledger import LEDGER_EVENTS

#: The columns that give their order, which every one of these frames has.
_PLACED_BY: Final = ("update_id", "kind", "node_id", "last_descendant_node_id")


def is_ledger_frame(names: Sequence[str]) -> bool:
    """Whether a frame with these columns contains events of the ledger interface."""
    return "node_id" in names and "event_type" not in names


def scan_events(frame: Any, names: Sequence[str]) -> pa.Table:
    """The events of a frame of `load_ledger_transaction(...).events` as scan's events; missing columns are null.

    Args:
        frame: pandas, Arrow or polars.
        names: its columns.

    Raises:
        InputError: columns are missing.
    """
    shared = [name for name in EVENTS.names if name in LEDGER_EVENTS.names and name in names]
    rows = to_arrow(frame, LEDGER_EVENTS, [*dict.fromkeys([*_PLACED_BY, *shared])], name="events")
    created = pc.starts_with(rows["kind"], "Created")
    numbers, lasts = (pc.fill_null(rows[name], -1).to_pylist() for name in ("node_id", "last_descendant_node_id"))
    columns = {name: rows[name] for name in shared} | tree_positions(rows["update_id"].to_pylist(), numbers, lasts)
    columns["event_type"] = pc.if_else(created, "created_event", "exercised_event")
    # It has neither migrations nor record times: the position of its update in the frame gives the order.
    updates = pc.unique(rows["update_id"])
    columns["migration_id"] = pc.index_in(rows["update_id"], updates).cast(pa.int64())
    missing = {name: pa.nulls(rows.num_rows, EVENTS.schema.field(name).type) for name in EVENTS.names}
    return pa.table(missing | columns)


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
