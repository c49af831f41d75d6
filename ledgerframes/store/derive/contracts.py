"""The open contracts, carried from chunk to chunk: those that a chunk needs, and its changes to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.models.declared_reads import AMULET, COUPONS, LOCKED_AMULET, PREAPPROVAL, ROUNDS
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.open_rows import open_rows
from ledgerframes.store.derive.rules import Change
from ledgerframes.store.derive.tables import OPEN_CONTRACTS

#: The template that shows which round expiring coupons belong to; an expiry states only its contract id.
_CLOSED_ROUND: Final = ROUNDS[-1]
_CARRIED: Final = (
    *(*COUPONS, AMULET, LOCKED_AMULET, _CLOSED_ROUND),
    "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
    PREAPPROVAL,
)
#: Instructions and allocations of any instrument are recognised by a member of their payload.
_STEPS: Final = r'"(transfer|allocation)"'
_SCHEMA: Final = OPEN_CONTRACTS.schema.remove_metadata()


def opening_of(history: History[Any], carried: DeltaStoreTable) -> pa.Table:
    """The open contracts among those that events and legs name, and the closed rounds, which expiries name."""
    named = _distinct([history.events["contract_id"], history.reassignments["contract_id"]])
    return open_rows(carried, pc.field("contract_id").isin(named) | (pc.field("template_name") == _CLOSED_ROUND))


def contracts_changed(history: History[Any], opening: pa.Table) -> Change:
    """The changes of a part of the history to the table of open contracts.

    Contracts are carried from their create, or the assignment that shows them, to their end.

    Args:
        history: events and legs.
        opening: those of its contracts that were open before.
    """
    events, legs = history.events, history.reassignments
    parts = [
        _carried(events.filter(pc.equal(events["event_type"], "created_event"))),
        _carried(legs.filter(pc.equal(legs["kind"], "assignment"))),
    ]
    begun = _first_of_each(pa.concat_tables([part.select(_SCHEMA.names).cast(_SCHEMA) for part in parts]))
    ended = _distinct([events["contract_id"].filter(pc.fill_null(events["consuming"], False))])  # noqa: FBT003
    known = opening["contract_id"].combine_chunks()
    over = pc.or_(pc.is_in(begun["contract_id"], ended), pc.is_in(begun["contract_id"], known))
    new = begun.filter(pc.invert(over))
    return Change(new.slice(0, 0), new, known.filter(pc.is_in(known, ended)))


def _carried(rows: pa.Table) -> pa.Table:
    named = pc.is_in(rows["template_name"], pa.array(_CARRIED, pa.string()))
    steps = pc.match_substring_regex(rows["payload"], _STEPS)
    return rows.filter(pc.fill_null(pc.or_(named, steps), False))  # noqa: FBT003


def _first_of_each(rows: pa.Table) -> pa.Table:
    numbered = rows.select(["contract_id"]).append_column("n", pa.array(range(rows.num_rows), pa.int64()))
    return rows.take(numbered.group_by("contract_id").aggregate([("n", "min")])["n_min"])


def _distinct(columns: Iterable[pa.ChunkedArray]) -> pa.Array:
    chunks = [chunk.cast(pa.string()) for column in columns for chunk in column.chunks]
    return pc.unique(pa.chunked_array(chunks, pa.string()))
