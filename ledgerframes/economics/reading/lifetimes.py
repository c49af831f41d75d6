"""Contracts from their creation to their end, whatever choice ended them; rewards and coins are made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.contracts import up_to
from ledgerframes.economics.reading.source import Source, assigned_rows, opening_rows
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.paging.cursor import Cursor

CREATED: Final = (
    *("contract_id", "template_name", "created_at", "migration_id", "record_time", "parent_event_id"),
    "payload",
)
_ENDED: Final = (
    *("contract_id", "template_name", "choice", "migration_id", "record_time", "update_id", "event_id"),
    "parent_event_id",
    "consuming",
)


@dataclass(frozen=True)
class Lifetimes:
    """The contracts of some templates.

    Attributes:
        created: one row per contract, with the columns of its create; of a contract that began before the events,
            parent_event_id is null, and record_time too unless an assignment shows it.
        ends: one row per consuming exercise: contract_id, template_name, choice, record_time, update_id, event_id,
            parent_event_id.
        end_of: for each contract the row in `ends` that ended it, -1 while it is active.
    """

    created: pa.Table
    ends: pa.Table
    end_of: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(
        cls, source: Source, templates: Sequence[str], opening: Any, *, until: Cursor | int | None = None
    ) -> Lifetimes:
        """Read them.

        Args:
            source: the events.
            templates: the templates.
            opening: the contracts active before the events.
            until: the moment up to which events count, as `up_to` takes it.
        """
        created = up_to(source.creates(templates, CREATED), until)
        for others in (opening_rows(opening, templates), up_to(assigned_rows(source, templates), until)):
            created = _with(created, others)
        # A create that a frame holds twice is one contract.
        created = _first_of_each(created)
        ends = up_to(source.exercises(_ENDED, templates=templates), until)
        ends = ends.filter(pc.fill_null(ends["consuming"], False)).drop_columns(["consuming"])  # noqa: FBT003
        end_of = pc.fill_null(pc.index_in(created["contract_id"], ends["contract_id"]), -1)
        return cls(created, ends, end_of.to_numpy().astype(np.int64))

    def ended(self, name: str) -> pa.Array:
        """A column of the end of each contract; null while it is active."""
        values = self.ends[name].take(pa.array(self.end_of, mask=self.end_of < 0))
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values

    def without_create(self) -> dict[str, int]:
        """How many contracts ended whose create is not known, by template."""
        known = pc.is_in(self.ends["contract_id"], self.created["contract_id"])
        return dict(Counter(self.ends["template_name"].filter(pc.invert(known)).to_pylist()))

    def ended_by(self, tree: Tree) -> pa.Array:
        """The choice that ended each contract: of Archive, that of the exercise above it."""
        own = self.ended("choice")
        above = tree.choices(tree.places(_chunked(self.ended("parent_event_id"))))
        archived = pc.and_(pc.equal(own, "Archive"), pc.is_valid(above))
        return pc.if_else(archived, above, own)


def _chunked(values: pa.Array) -> pa.ChunkedArray:
    return pa.chunked_array([values])


def _with(created: pa.Table, others: pa.Table) -> pa.Table:
    """Creates, and contracts that are known from elsewhere."""
    if not others.num_rows:
        return created
    fresh = others.filter(pc.invert(pc.is_in(others["contract_id"], created["contract_id"])))
    if not fresh.num_rows:
        return created
    columns = [
        fresh[name] if name in fresh.column_names else pa.nulls(fresh.num_rows, created.schema.field(name).type)
        for name in created.column_names
    ]
    plain = pa.schema([pa.field(name, created.schema.field(name).type) for name in created.column_names])
    return pa.concat_tables([created.cast(plain), pa.table(columns, names=created.column_names).cast(plain)])


def _first_of_each(rows: pa.Table) -> pa.Table:
    if pc.count_distinct(rows["contract_id"]).as_py() == rows.num_rows:
        return rows
    numbered = rows.select(["contract_id"]).append_column("n", pa.array(range(rows.num_rows), pa.int64()))
    first = numbered.group_by("contract_id").aggregate([("n", "min")])["n_min"]
    return rows.take(first.combine_chunks().sort())
