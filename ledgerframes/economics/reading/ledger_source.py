"""Events of the ledger interface in the columns of scan's events, so that one's own ledger can be read likewise."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.source import Source
from ledgerframes.frames import attrs_of, to_arrow
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.ledger import LEDGER_EVENTS

_COLUMNS: Final = (
    *("update_id", "kind", "node_id", "last_descendant_node_id", "contract_id", "template_name", "choice"),
    *("interface_id", "created_at", "payload", "exercise_result"),
)


def is_ledger_frame(events: Any) -> bool:
    """Whether a frame holds events of the ledger interface."""
    names = getattr(events, "column_names", None)
    names = names if isinstance(names, list) else list(getattr(events, "columns", ()))
    return "node_id" in names and "event_type" not in names


def source_of_ledger(events: Any) -> Source:
    """Read a frame of `load_ledger_transaction(...).events`.

    Raises:
        InputError: columns are missing.
    """
    rows = to_arrow(events, LEDGER_EVENTS, _COLUMNS, name="events")
    created = pc.starts_with(rows["kind"], "Created")
    numbers = rows["node_id"].cast(pa.string())
    kept = rows.drop_columns(["kind", "node_id", "last_descendant_node_id"])
    kept = kept.append_column("event_type", pc.if_else(created, "created_event", "exercised_event"))
    kept = kept.append_column("event_id", pc.binary_join_element_wise(rows["update_id"], numbers, ":"))
    kept = kept.append_column("parent_event_id", pa.array(_parents(rows), pa.string()))
    for name, kind in (("record_time", TIME.arrow), ("migration_id", pa.int64())):
        kept = kept.append_column(name, pa.nulls(rows.num_rows, kind))
    return Source(kept, attrs=attrs_of(events), proof=kept)


def _parents(rows: pa.Table) -> list[str | None]:
    """The exercise above each event: the last before it whose descendants reach that far."""
    numbers = pc.fill_null(rows["node_id"], -1).to_pylist()
    lasts = pc.fill_null(rows["last_descendant_node_id"], -1).to_pylist()
    nodes = sorted(zip(rows["update_id"].to_pylist(), numbers, lasts, range(rows.num_rows), strict=True))
    parents: list[str | None] = [None] * rows.num_rows
    above: list[tuple[str, int, int]] = []
    for update, node, last, row in nodes:
        while above and (above[-1][0] != update or above[-1][2] < node):
            above.pop()
        if above and node >= 0:
            parents[row] = f"{update}:{above[-1][1]}"
        if last > node:
            above.append((update, node, last))
    return parents
