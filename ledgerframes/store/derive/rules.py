"""How each table is continued from a place in the history, and what it needs of the past; `deriving` calls it.

A rule has two parts. The rows of a chunk depend on its events and on the contracts that they name; the model computes
them. Their changes depend on the rows that the table has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.frames import attrs_of
from ledgerframes.models.coin_flows import mint_burn, token_transfers, traffic_purchases, transfers
from ledgerframes.models.coin_stocks import coin_history
from ledgerframes.models.inputs import Inputs
from ledgerframes.models.rounds_and_rewards import rewards, round_history
from ledgerframes.store.derive.from_rows import unissued, with_issuance

#: When a phase of a round began.
_PHASES: Final = ("opened_at", "summarizing_at", "issuing_at", "closed_at")
_NOTHING: Final = pa.array([], pa.string())
#: Returns the open rows of a table that match a filter.
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


@dataclass(frozen=True)
class Rule:
    """How one table is continued.

    Attributes:
        function: computes the rows of a chunk.
        change: their changes to the table; by default they are only added, because rows that depend on one update and
            on contracts that it names never change.
    """

    function: Callable[..., Any]
    change: Callable[[pa.Table, Opened], Change] = lambda rows, _: Change(rows, rows.slice(0, 0))


def changed(name: str, inputs: Inputs, opened: Opened) -> Change:
    """The changes of a chunk to one table.

    Args:
        name: the table's name.
        inputs: events and legs of the chunk, with the earlier contracts that they name.
        opened: returns rows of the tables in the state before the chunk.
    """
    rule = RULES[name]
    opening = {"opening": inputs.opening_argument} if "opening" in signature(rule.function).parameters else {}
    rows = rule.function(inputs, as_="arrow", **opening)
    plain = rows.cast(pa.schema([pa.field(column.name, column.type) for column in rows.schema]))
    return replace(rule.change(plain, opened), unknown=sum(attrs_of(rows)["not_understood"].values()))


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
    every = with_issuance(pa.concat_tables([rows, others]), issued)
    # Those that still wait are unchanged.
    every = every.filter(pc.or_(pc.is_valid(every["issuance"]), pc.is_in(every["contract_id"], rows["contract_id"])))
    open_still = pc.fill_null(pc.equal(every["outcome"], "open"), False)  # noqa: FBT003
    return _split(every, pc.or_(open_still, unissued(every)))


def _coins(rows: pa.Table, opened: Opened) -> Change:
    """Coins change until they end; what created them is known only from the chunk with their create."""
    old = opened("coin_history", pc.field("contract_id").isin(rows["contract_id"].combine_chunks()))
    before = old["created_by"].take(pc.index_in(rows["contract_id"], old["contract_id"]))
    place = rows.column_names.index("created_by")
    rows = rows.set_column(place, rows.schema.field(place), pc.coalesce(rows["created_by"], before))
    return _split(rows, pc.is_null(rows["ended_at"]))


def _split(rows: pa.Table, still_open: Any) -> Change:
    return Change(rows.filter(pc.invert(still_open)), rows.filter(still_open), rows["contract_id"].combine_chunks())


#: The rule of each table that can be continued, in the order of writing.
RULES: Final[Mapping[str, Rule]] = {
    "round_history": Rule(round_history, _rounds),
    "rewards": Rule(rewards, _rewards),
    "transfers": Rule(transfers),
    "token_transfers": Rule(token_transfers),
    "traffic_purchases": Rule(traffic_purchases),
    "mint_burn": Rule(mint_burn),
    "coin_history": Rule(coin_history, _coins),
}
