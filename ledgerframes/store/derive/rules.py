"""What a chunk of the history adds to, and changes in, each computed table; `deriving` commits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.coins import coins
from ledgerframes.economics.mint_burn import mint_burn
from ledgerframes.economics.reading.models import COINS, INSTRUCTION, PREAPPROVAL
from ledgerframes.economics.reward_kinds import KINDS
from ledgerframes.economics.rewards import rewards, with_issuance
from ledgerframes.economics.rounds import PHASES, rounds
from ledgerframes.economics.token_transfers import token_transfers
from ledgerframes.economics.traffic_purchases import traffic_purchases
from ledgerframes.economics.transfers import transfers
from ledgerframes.frames import attrs_of
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.chunks import Chunk
from ledgerframes.store.derive.kept import OPEN_CONTRACTS
from ledgerframes.store.derive.open_rows import open_rows, open_rows_where

_CARRIED: Final = (*KINDS, *COINS, INSTRUCTION, PREAPPROVAL)
#: Instructions and allocations of any instrument are told by a member of their payload.
_STEPS: Final = r'"(transfer|allocation)"'
_NOTHING: Final = pa.array([], pa.string())


@dataclass(frozen=True)
class Change:
    """What a chunk does to a table.

    Attributes:
        rows: final rows to add.
        open: rows to add that can still change.
        keys: the keys of the open rows that these replace, or that are over.
        unknown: how often something was not understood.
    """

    rows: pa.Table
    open: pa.Table
    keys: pa.Array = field(default_factory=lambda: _NOTHING)
    unknown: int = 0


Tables = Mapping[str, DeltaStoreTable]
Rule = Callable[[Chunk, Tables], Change]


def _added(function: Callable[..., Any], *, opening: bool = True) -> Rule:
    """The rule of a table whose rows depend on one update and on contracts that it names."""

    def change(chunk: Chunk, _: Tables) -> Change:
        options = {"opening": chunk.opening} if opening else {}
        rows = function(chunk.history, as_="arrow", **options)
        return Change(_plain(rows), _plain(rows.slice(0, 0)), unknown=_unknown(rows))

    return change


def _rounds(chunk: Chunk, tables: Tables) -> Change:
    """Rounds get further phases as long as they are named; there are 50,000 a year, so all of them stay open."""
    computed = rounds(chunk.history, as_="arrow")
    new = _plain(computed)
    old = open_rows(tables["round_history"], "round", new["round"].combine_chunks())
    places = pc.index_in(new["round"], old["round"])
    columns = {}
    for name in new.column_names:
        before = old[name].take(places)
        # A phase begins once; everything else is as stated last.
        pair = (before, new[name]) if name in PHASES.values() else (new[name], before)
        columns[name] = pc.coalesce(*pair)
    rows = pa.table(columns, schema=new.schema)
    return Change(rows.slice(0, 0), rows, rows["round"].combine_chunks(), _unknown(computed))


def _rewards(chunk: Chunk, tables: Tables) -> Change:
    """Coupons change until they are ended and their round is known to issue."""
    computed = rewards(chunk.history, opening=chunk.opening, as_="arrow")
    rows, own = _plain(computed), tables["rewards"]
    waiting = open_rows_where(own, pc.field("issuance").is_null() & pc.field("round").is_valid())
    others = waiting.filter(pc.invert(pc.is_in(waiting["contract_id"], rows["contract_id"])))
    known = tables["round_history"]
    numbers = pa.chunked_array([*rows["round"].chunks, *others["round"].chunks], pa.int64())
    issued = open_rows(known, "round", pc.unique(numbers.drop_null()))
    rows, others = with_issuance(rows, issued), with_issuance(others, issued)
    others = others.filter(pc.is_valid(others["issuance"]))
    every = pa.concat_tables([rows, others])
    open_still = pc.fill_null(pc.equal(every["outcome"], "open"), False)  # noqa: FBT003
    unissued = pc.and_(pc.is_null(every["issuance"]), pc.is_valid(every["round"]))
    return _split(every, pc.or_(open_still, unissued), _unknown(computed))


def _coins(chunk: Chunk, tables: Tables) -> Change:
    """Coins change until they end; what created them is known only from the chunk in which that was."""
    computed = coins(chunk.history, opening=chunk.opening, as_="arrow")
    rows = _plain(computed)
    old = open_rows(tables["coin_history"], "contract_id", rows["contract_id"].combine_chunks())
    before = old["created_by"].take(pc.index_in(rows["contract_id"], old["contract_id"]))
    place = rows.column_names.index("created_by")
    rows = rows.set_column(place, rows.schema.field(place), pc.coalesce(rows["created_by"], before))
    return _split(rows, pc.is_null(rows["ended_at"]), _unknown(computed))


def _open_contracts(chunk: Chunk, _: Tables) -> Change:
    """Contracts are carried from their create, or the assignment that shows them, to their end."""
    columns = OPEN_CONTRACTS.names
    events, legs = chunk.history.events, chunk.history.reassignments
    parts = [
        _carried(events.filter(pc.equal(events["event_type"], "created_event"))),
        _carried(legs.filter(pc.equal(legs["kind"], "assignment"))),
    ]
    schema = OPEN_CONTRACTS.schema.remove_metadata()
    new = pa.concat_tables([part.select(columns).cast(schema) for part in parts])
    new = new.filter(pc.invert(pc.is_in(new["contract_id"], chunk.opening["contract_id"])))
    new = _first_of_each(new)
    ended = events["contract_id"].filter(pc.fill_null(events["consuming"], False))  # noqa: FBT003
    alive = new.filter(pc.invert(pc.is_in(new["contract_id"], ended)))
    gone = chunk.opening["contract_id"].filter(pc.is_in(chunk.opening["contract_id"], ended))
    return Change(new.slice(0, 0), alive, gone.combine_chunks())


def _carried(rows: pa.Table) -> pa.Table:
    named = pc.is_in(rows["template_name"], pa.array(_CARRIED, pa.string()))
    steps = pc.match_substring_regex(rows["payload"], _STEPS)
    return rows.filter(pc.fill_null(pc.or_(named, steps), False))  # noqa: FBT003


def _first_of_each(rows: pa.Table) -> pa.Table:
    numbered = rows.select(["contract_id"]).append_column("n", pa.array(range(rows.num_rows), pa.int64()))
    return rows.take(numbered.group_by("contract_id").aggregate([("n", "min")])["n_min"])


def _split(rows: pa.Table, still_open: Any, unknown: int) -> Change:
    keys = rows["contract_id"].combine_chunks()
    return Change(rows.filter(pc.invert(still_open)), rows.filter(still_open), keys, unknown)


def _plain(rows: pa.Table) -> pa.Table:
    plain: pa.Table = rows.cast(pa.schema([pa.field(column.name, column.type) for column in rows.schema]))
    return plain


def _unknown(rows: pa.Table) -> int:
    return sum(attrs_of(rows)["not_understood"].values())


#: The rule of each table that is computed chunk by chunk, in the order of writing.
RULES: Final[Mapping[str, Rule]] = {
    "round_history": _rounds,
    "rewards": _rewards,
    "transfers": _added(transfers),
    "token_transfers": _added(token_transfers),
    "traffic_purchases": _added(traffic_purchases, opening=False),
    "mint_burn": _added(mint_burn),
    "coin_history": _coins,
    # Last: what was there before a chunk has to stay until every table has it.
    OPEN_CONTRACTS.name: _open_contracts,
}
