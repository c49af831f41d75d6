"""How each table is continued from a place in the history, and what it needs of the past; `deriving` calls it.

A rule has two parts. The rows of a chunk depend on its events and on the contracts that they name; the model computes
them. Their changes depend on the rows that the table has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.frames import attrs_of
from ledgerframes.loaders.history import History
from ledgerframes.loaders.opening import Opening
from ledgerframes.models import public
from ledgerframes.models.computing import together
from ledgerframes.models.declared_reads import AMULET, COUPONS, LOCKED_AMULET, PREAPPROVAL, ROUNDS
from ledgerframes.models.engine import Engine
from ledgerframes.store.derive.tables import DERIVED_TABLES, OPEN_CONTRACTS, SUMMED
from ledgerframes.tables.kinds import AMOUNT, TEXT, TEXTS
from ledgerframes.tables.table import Table

#: When a phase of a round began.
_PHASES: Final = ("opened_at", "summarizing_at", "issuing_at", "closed_at")
#: The template that shows which round expiring coupons belong to; an expiry states only its contract id.
_CLOSED_ROUND: Final = ROUNDS[-1]
#: The templates of contracts that are carried from chunk to chunk.
_CARRIED: Final = (
    *(*COUPONS, AMULET, LOCKED_AMULET, _CLOSED_ROUND),
    "Splice.AmuletTransferInstruction:AmuletTransferInstruction",
    PREAPPROVAL,
)
#: Instructions and allocations of any instrument are recognised by a member of their payload.
_STEPS: Final = r'"(transfer|allocation)"'
#: The earlier coins that `supply_per_round` reads; a lake from ledger begin has none.
_NO_COINS: Final = pa.schema({"amount": AMOUNT.arrow, "shown_by": TEXT.arrow, "wrong": TEXTS.arrow}).empty_table()
_NOTHING: Final = pa.array([], pa.string())
#: Returns the open rows of a table that match a filter, in the state before a chunk.
Opened = Callable[[str, pc.Expression], pa.Table]


@dataclass(frozen=True)
class Change:
    """The changes of a chunk to a table.

    Attributes:
        rows: final rows to add.
        open: rows to add that can still change.
        keys: the keys of open rows that these replace, or that have ended.
        unknown: how many items were not understood.
    """

    rows: pa.Table
    open: pa.Table
    keys: pa.Array = field(default_factory=lambda: _NOTHING)
    unknown: int = 0


@contextmanager
def changes(history: History[Any], opened: Opened) -> Iterator[Callable[[str], Change]]:
    """Compute a chunk.

    Args:
        history: its events and legs.
        opened: returns rows of the tables, of those named first as this chunk left them.

    Yields:
        A function that returns the changes to a table by its name.
    """
    named = _distinct(history.events["contract_id"], history.reassignments["contract_id"])
    # Expiries name their closed round by its contract alone.
    wanted = pc.field("contract_id").isin(named) | (pc.field("template_name") == _CLOSED_ROUND)
    opening = Opening(opened(OPEN_CONTRACTS.name, wanted))
    with together(history, opening=opening, rows_only=True) as inputs:

        def changed(name: str) -> Change:
            if name == OPEN_CONTRACTS.name:
                return _contracts(history, opening.contracts)
            rows = getattr(public, name)(inputs, as_="arrow")
            unknown = sum(attrs_of(rows)["not_understood"].values())
            return replace(_CHANGES.get(name, _added)(rows.cast(plain(DERIVED_TABLES[name])), opened), unknown=unknown)

        yield changed


def plain(table: Table) -> pa.Schema:
    """The declared columns and types of a table, without metadata and constraints."""
    return pa.schema([pa.field(field.name, field.type) for field in table.schema])


def supply_rows(sources: Mapping[str, Any], *, begun: bool) -> pa.Table:
    """Compute the rows of `supply_per_round`.

    Args:
        sources: the rows of `mint_burn` and `round_history`; datasets are read in batches.
        begun: whether they begin at ledger begin; otherwise the total is unknown.
    """
    return _of_tables(SUMMED, {**sources, "coin_contracts": _NO_COINS}, plain(DERIVED_TABLES[SUMMED]), begun=begun)


def _of_tables(model: str, sources: Mapping[str, Any], schema: pa.Schema, **variables: Any) -> pa.Table:
    """The rows of a model over other tables."""
    with Engine({name: lambda *_, rows=rows: rows for name, rows in sources.items()}) as engine:
        engine.set(variables)
        rows = engine.interruptible(lambda: engine.rows(model), model)
    return rows.select(schema.names).cast(schema)


def _contracts(history: History[Any], known: pa.Table) -> Change:
    """Contracts are carried from their create, or the assignment that shows them, to their end."""
    events, legs, schema = history.events, history.reassignments, plain(OPEN_CONTRACTS)
    shown = [
        events.filter(pc.equal(events["event_type"], "created_event")),
        legs.filter(pc.equal(legs["kind"], "assignment")),
    ]
    begun = pa.concat_tables([rows.select(schema.names).cast(schema) for rows in shown])
    steps = pc.match_substring_regex(begun["payload"], _STEPS)
    named = pc.is_in(begun["template_name"], pa.array(_CARRIED, pa.string()))
    begun = begun.filter(pc.fill_null(pc.or_(named, steps), False))  # noqa: FBT003
    # The first that shows a contract; an assignment comes after its create.
    numbered = begun.select(["contract_id"]).append_column("n", pa.array(range(begun.num_rows), pa.int64()))
    begun = begun.take(numbered.group_by("contract_id").aggregate([("n", "min")])["n_min"])
    ended = _distinct(events["contract_id"].filter(pc.fill_null(events["consuming"], False)))  # noqa: FBT003
    before = known["contract_id"].combine_chunks()
    over = pc.or_(pc.is_in(begun["contract_id"], ended), pc.is_in(begun["contract_id"], before))
    return Change(begun.slice(0, 0), begun.filter(pc.invert(over)), before.filter(pc.is_in(before, ended)))


def _distinct(*columns: pa.ChunkedArray) -> pa.Array:
    chunks = [chunk.cast(pa.string()) for column in columns for chunk in column.chunks]
    return pc.unique(pa.chunked_array(chunks, pa.string()))


def _added(rows: pa.Table, _: Opened) -> Change:
    """Rows that depend on one update, and on contracts that it names, never change."""
    return Change(rows, rows.slice(0, 0))


def _rounds(new: pa.Table, opened: Opened) -> Change:
    """Rounds get further phases as long as they are named; there are 50,000 per year, so all of them stay open."""
    old = opened("round_history", pc.field("round").isin(new["round"].combine_chunks()))
    positions = pc.index_in(new["round"], old["round"])
    columns = {}
    for name in new.column_names:
        before = old[name].take(positions)
        # A phase begins once; everything else is as last stated.
        pair = (before, new[name]) if name in _PHASES else (new[name], before)
        columns[name] = pc.coalesce(*pair)
    columns["whole"] = pc.and_(pc.is_valid(columns["opened_at"]), pc.is_valid(columns["closed_at"]))
    rows = pa.table(columns, schema=new.schema)
    return Change(rows.slice(0, 0), rows, rows["round"].combine_chunks())


def _rewards(rows: pa.Table, opened: Opened) -> Change:
    """Coupons change until they have ended and their round's issuance is known."""
    waiting = opened("rewards", pc.field("issuance").is_null() & pc.field("round").is_valid())
    others = waiting.filter(pc.invert(pc.is_in(waiting["contract_id"], rows["contract_id"])))
    numbers = pa.chunked_array([*rows["round"].chunks, *others["round"].chunks], pa.int64())
    issued = opened("round_history", pc.field("round").isin(pc.unique(numbers.drop_null())))
    every = _with_issuance(pa.concat_tables([rows, others]), issued)
    # Those that still wait are unchanged.
    every = every.filter(pc.or_(pc.is_valid(every["issuance"]), pc.is_in(every["contract_id"], rows["contract_id"])))
    open_still = pc.fill_null(pc.equal(every["outcome"], "open"), False)  # noqa: FBT003
    return _split(every, pc.or_(open_still, unissued(every)))


def _with_issuance(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Add issuance and price of their round to coupons that lacked them, and the resulting value."""
    without = pc.or_(unissued(rows), pc.and_(pc.is_null(rows["amount_usd"]), pc.is_valid(rows["amount"])))
    mask = pc.and_(without, pc.is_in(rows["round"], known["round"]))
    if not pc.any(mask).as_py():
        return rows
    return _of_tables("issued_rewards", {"rewards": rows, "round_history": known}, rows.schema)


def unissued(rows: pa.Table) -> pa.ChunkedArray:
    """Whether coupons still wait for the issuance of their round; those that state an amount of coin do not.

    All coupons of the second version state an amount, a round and their expiry; the others expire with the round that
    issues them.
    """
    waits = pc.and_(pc.is_null(rows["issuance"]), pc.is_valid(rows["round"]))
    return pc.and_(waits, pc.is_null(rows["expires_at"]))


def _coins(rows: pa.Table, opened: Opened) -> Change:
    """Coins change until they end; what created them is known only from the chunk with their create."""
    old = opened("coin_history", pc.field("contract_id").isin(rows["contract_id"].combine_chunks()))
    before = old["created_by"].take(pc.index_in(rows["contract_id"], old["contract_id"]))
    place = rows.column_names.index("created_by")
    rows = rows.set_column(place, rows.schema.field(place), pc.coalesce(rows["created_by"], before))
    return _split(rows, pc.is_null(rows["ended_at"]))


def _split(rows: pa.Table, still_open: Any) -> Change:
    return Change(rows.filter(pc.invert(still_open)), rows.filter(still_open), rows["contract_id"].combine_chunks())


#: The changes that a chunk's rows make to a table, where they are not only added.
_CHANGES: Final = {"round_history": _rounds, "rewards": _rewards, "coin_history": _coins}
