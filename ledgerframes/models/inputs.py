"""The history that models are computed from, in whatever form the caller has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.analysis.contracts import ACTIVE
from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of, to_arrow
from ledgerframes.loaders.history import History
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.table import Table

#: What an opening has to have; `load_active_contracts` and `active_contracts` give more.
OPENING: Final = ("contract_id", "template_name", "created_at", "payload")
_GIVER: Final = "give the events of lf.load_events, a History, a Store, or a path of Parquet"
#: Gives the columns of an input whose names are among some words.
Give = Callable[[set[str]], Any]


@dataclass(frozen=True)
class Inputs:
    """A caller's history.

    Attributes:
        gives: for each relation what gives its columns.
        attrs: the provenance of the events.
        proof: a frame with that provenance.
    """

    gives: Mapping[str, Give]
    attrs: dict[str, Any] = field(default_factory=dict)
    proof: Any = None


def inputs_of(events: Any, *, opening: Any = None) -> Inputs:
    """Read what a caller gives.

    Args:
        events: a frame of events, a `History`, a `Store`, or the path of a Parquet file or folder of events.
        opening: contracts active before the events, as `active_contracts` returns them, `"nothing"`, or None.

    Raises:
        InputError: it is none of them, or columns are missing.
    """
    legs, attrs, proof = None, {}, events
    if isinstance(events, History):
        give, legs, proof = _frame(events.events, EVENTS), _frame(events.reassignments, REASSIGNMENTS), events.events
    elif hasattr(events, "load") and hasattr(events, "coverage"):
        give, legs = _stored(events, EVENTS), _stored(events, REASSIGNMENTS)
        proof = events.load("events", columns=["update_id"], as_="arrow").slice(0, 0)
    elif isinstance(events, str | Path):
        give, proof = _files(events), None
    elif hasattr(events, "column_names") or hasattr(events, "columns"):
        give = _frame(events, EVENTS)
    else:
        raise InputError(f"events={shown(events)} is not valid: {_GIVER}")
    attrs = {} if proof is None else attrs_of(proof)
    gives = {"events": give, "reassignments": legs or _empty(REASSIGNMENTS), "opening": _opening(opening)}
    return Inputs(gives, attrs, proof)


def _frame(frame: Any, table: Table) -> Give:
    return lambda words: to_arrow(frame, table, _among(table, words), name=table.name)


def _stored(store: Any, table: Table) -> Give:
    return lambda _: store.scan(table.name)


def _files(path: str | Path) -> Give:
    if not Path(path).exists():
        raise InputError(f"events={str(path)!r} does not exist: {_GIVER}")
    return lambda _: ds.dataset(path, format="parquet")


def _empty(table: Table) -> Give:
    return lambda words: table.schema.empty_table().select(_among(table, words))


def _opening(opening: Any) -> Give:
    if isinstance(opening, str) and opening != "nothing":
        raise InputError(f'opening={opening!r}: give a frame of contracts, or "nothing"')
    if opening is None or isinstance(opening, str):
        return lambda _: pa.schema([ACTIVE.schema.field(name) for name in OPENING]).empty_table()
    rows = to_arrow(opening, ACTIVE, OPENING, name="opening")
    return lambda _: rows


def _among(table: Table, words: set[str]) -> list[str]:
    return [name for name in table.names if name in words]
