"""`from_beginning`: whether the first rows of a history are at ledger begin; loaders and the store call it."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.paging.cursor import Cursor, before

#: Updates examined at most: in a range cut out of a history, nearly every update uses an older contract.
LOOKED_AT: Final = 1_000
#: The columns of events and reassignments that are read.
EVENT_COLUMNS: Final = (
    "update_id", "migration_id", "record_time", "event_type", "contract_id", "template_name", "choice"
)  # fmt: skip
LEG_COLUMNS: Final = ("kind", "contract_id")

# A network's history begins with the creation of its DSO, in one choice.
_TEMPLATE: Final = "Splice.DsoBootstrap:DsoBootstrap"
_CHOICE: Final = "DsoBootstrap_Bootstrap"


def from_beginning(
    events: pa.Table | pa.RecordBatch,
    reassignments: pa.Table | pa.RecordBatch,
    *,
    first: Cursor | None = None,
    older: bool = False,
) -> bool | None:
    """Whether a history begins where the ledger does, by its first updates (the contract documents no sign of it).

    A scan that prunes answers as if its history began later, so being shown first proves nothing about an item.

    Args:
        events: those of the first updates, with `EVENT_COLUMNS`; more than `LOOKED_AT` updates are not needed.
        reassignments: the legs among the same updates, with `LEG_COLUMNS`.
        first: the cursor of the first update, if known: nothing can precede the smallest possible one.
        older: whether older updates are known: stored, or shown elsewhere.

    Returns:
        True if one of the first updates, all at one cursor, bootstraps the DSO, or nothing can precede it; False if
        older updates are known, or a contract is exercised or unassigned that nothing here created or assigned; None
        otherwise.
    """
    if older:
        return False
    if first is not None and before(first) is None:
        return True
    if events.num_rows:
        top = events.slice(0, 1).to_pylist()[0]
        # Updates at one cursor are in the server's own order.
        here = pc.and_(
            pc.equal(events["migration_id"], top["migration_id"]),
            pc.equal(events["record_time"], pa.scalar(top["record_time"], events["record_time"].type)),
        )
        bootstraps = pc.and_(pc.equal(events["template_name"], _TEMPLATE), pc.equal(events["choice"], _CHOICE))
        if pc.any(pc.and_(here, bootstraps.fill_null(fill_value=False))).as_py():
            return True
    begun = _ids(events, "event_type", "created_event") | _ids(reassignments, "kind", "assignment")
    used = _ids(events, "event_type", "exercised_event") | _ids(reassignments, "kind", "unassignment")
    return False if used - begun else None


def _ids(rows: pa.Table | pa.RecordBatch, column: str, value: str) -> set[str]:
    return {*rows["contract_id"].filter(pc.equal(rows[column], value)).to_pylist()} - {None}
