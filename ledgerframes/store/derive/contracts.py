"""The contracts that are carried from chunk to chunk: what a chunk says of them, and what it changes in their table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.loaders.history import History
from ledgerframes.models.declared_reads import AMULET, COUPONS, LOCKED_AMULET
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.change import Change
from ledgerframes.store.derive.kept import OPEN_CONTRACTS
from ledgerframes.store.derive.open_rows import open_rows

#: The columns of events that `Contracts.of` reads.
EVENT_COLUMNS: Final = ("event_type", "contract_id", "template_name", "created_at", "payload", "consuming")
_CARRIED: Final = (
    *(*COUPONS, AMULET, LOCKED_AMULET),
    "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
    "Splice.AmuletRules:TransferPreapproval",
)
#: Instructions and allocations of any instrument are told by a member of their payload.
_STEPS: Final = r'"(transfer|allocation)"'
_SCHEMA: Final = OPEN_CONTRACTS.schema.remove_metadata()


@dataclass(frozen=True)
class Contracts:
    """What a part of the history says of contracts, whatever was before.

    Attributes:
        named: the ids of all contracts in it.
        begun: the contracts to carry that it shows first and does not end; one row per contract.
        ended: the ids of the contracts that it ends.
    """

    named: pa.Array
    begun: pa.Table
    ended: pa.Array

    @classmethod
    def of(cls, history: History[Any]) -> Contracts:
        """Read it from events and legs.

        Contracts are carried from their create, or the assignment that shows them, to their end.
        """
        events, legs = history.events, history.reassignments
        parts = [
            _carried(events.filter(pc.equal(events["event_type"], "created_event"))),
            _carried(legs.filter(pc.equal(legs["kind"], "assignment"))),
        ]
        begun = _first_of_each(pa.concat_tables([part.select(_SCHEMA.names).cast(_SCHEMA) for part in parts]))
        ended = _distinct([events["contract_id"].filter(pc.fill_null(events["consuming"], False))])  # noqa: FBT003
        alive = begun.filter(pc.invert(pc.is_in(begun["contract_id"], ended)))
        return cls(named_in(history), alive, ended)

    def change(self, opening: pa.Table) -> Change:
        """What this changes in the table of open contracts.

        Args:
            opening: those of the named contracts that were open before.
        """
        known = opening["contract_id"].combine_chunks()
        new = self.begun.filter(pc.invert(pc.is_in(self.begun["contract_id"], known)))
        return Change(new.slice(0, 0), new, known.filter(pc.is_in(known, self.ended)))


def named_in(history: History[Any]) -> pa.Array:
    """The ids of all contracts that events and legs name."""
    return _distinct([history.events["contract_id"], history.reassignments["contract_id"]])


def opening_of(named: pa.Array, carried: DeltaStoreTable, pending: Iterable[Change] = ()) -> pa.Table:
    """The open contracts among some ids.

    Args:
        named: the ids.
        carried: the table of open contracts.
        pending: what is computed and not committed to it yet, in order.
    """
    rows = open_rows(carried, "contract_id", named)
    for change in pending:
        rows = rows.filter(pc.invert(pc.is_in(rows["contract_id"], change.keys)))
        begun = change.open.filter(pc.is_in(change.open["contract_id"], named))
        rows = pa.concat_tables([rows, begun.select(rows.column_names).cast(rows.schema)])
    return rows


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
