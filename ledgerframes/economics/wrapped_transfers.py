"""Coin transfers of token-standard choices and preapprovals that do not contain an `AmuletRules_Transfer`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from ledgerframes.economics.reading.amounts import list_sums, narrow
from ledgerframes.economics.reading.choices import SENDS, STANDARD, TRANSFER
from ledgerframes.economics.reading.models import AMULET, INSTRUCTION, META, PREAPPROVAL, Amulet
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import fits, parsed
from ledgerframes.economics.reading.source import Source, opening_rows
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.standard import COLUMNS, Step, kind_of, steps_of
from ledgerframes.economics.summaries import metas_of, other_fees, outcomes_of

_ALLOCATION: Final = "Splice.AmuletAllocation:AmuletAllocation"
#: Token-standard choices on other templates are of other instruments.
_COIN_MODULES: Final = r"^Splice\.(Amulet|ExternalPartyAmulet)"
_KNOWN: Final = (INSTRUCTION, _ALLOCATION, PREAPPROVAL)


class Send(Struct, frozen=True, gc=False):
    """The argument of `TransferPreapproval_Send` and its V2."""

    sender: str
    amount: Decimal
    description: str | None = None


class Preapproval(Struct, frozen=True, gc=False):
    """Who is sent to."""

    receiver: str
    provider: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of the table, and its exercise's place in the tree."""

    place: int
    cells: dict[str, Any]


@dataclass
class Wrapped:
    """What the choices that wrap transfers say.

    Attributes:
        metas: the merged metadata of each, by its place in the tree, for the transfers below.
        rows: the rows of those without a transfer below.
    """

    metas: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


def wrapped_transfers(source: Source, tree: Tree, opening: Any, notes: NotUnderstood) -> Wrapped:
    """Read the choices that wrap transfers, or transfer by themselves.

    Args:
        source: the events.
        tree: all their exercises.
        opening: contracts active before them.
        notes: where exercises that cannot be read are counted.
    """
    wrapped = Wrapped()
    rows = source.exercises(COLUMNS, choices=(*STANDARD, *SENDS))
    rows = rows.filter(pc.fill_null(pc.match_substring_regex(rows["template_name"], _COIN_MODULES), False))  # noqa: FBT003
    if not rows.num_rows:
        return wrapped
    contracts = _contracts(source, opening, rows)
    sends = pc.is_in(rows["choice"], pa.array(SENDS))
    _add_sends(wrapped, rows.filter(sends), contracts, tree, notes)
    _add_steps(wrapped, rows.filter(pc.invert(sends)), contracts, tree, source, notes)
    covered = _covered(tree)
    wrapped.rows = [row for row in wrapped.rows if row.place not in covered]
    return wrapped


def _covered(tree: Tree) -> set[int]:
    """The wrapping exercises that have a transfer, or another wrapping exercise, below them."""
    wrapping = tree.mask((*STANDARD, *SENDS))
    counting = np.flatnonzero(wrapping | tree.mask([TRANSFER]))
    return set(tree.nearest(tree.above(counting), wrapping).tolist())


def _contracts(source: Source, opening: Any, rows: pa.Table) -> pa.Table:
    """The instructions, allocations and preapprovals that are exercised."""
    columns = ["contract_id", "payload"]
    created = source.creates(_KNOWN, columns)
    every = pa.concat_tables([created, opening_rows(opening, _KNOWN).select(columns).cast(created.schema)])
    return every.filter(pc.is_in(every["contract_id"], rows["contract_id"]))


def _add_sends(found: Wrapped, rows: pa.Table, contracts: pa.Table, tree: Tree, notes: NotUnderstood) -> None:
    names = [f"{PREAPPROVAL}/{choice}" for choice in rows["choice"].to_pylist()]
    known = dict(
        zip(
            contracts["contract_id"].to_pylist(),
            parsed(contracts["payload"], Preapproval, [""] * contracts.num_rows, NotUnderstood()),
            strict=True,
        )
    )
    arguments, outcomes = parsed(rows["payload"], Send, names, notes), outcomes_of(rows, notes, sayings=True)
    places, identities = tree.places(rows["event_id"]), _identities(rows)
    fees = narrow(pc.add(other_fees(outcomes), list_sums(outcomes["output_fees"]))).to_pylist()
    columns = (rows["contract_id"].to_pylist(), outcomes["round"].to_pylist(), fees, metas_of(outcomes))
    for row, (argument, contract, number, paid, said) in enumerate(zip(arguments, *columns, strict=True)):
        if argument is None or not fits(argument.amount):
            continue
        meta: dict[str, str | None] = {f"{META}reason": argument.description} if argument.description else {}
        meta |= said
        found.metas[int(places[row])] = meta
        preapproval = known.get(contract)
        cells = _cells(argument.sender, preapproval and preapproval.receiver, argument.amount, meta)
        cells |= {"provider": preapproval and preapproval.provider, "round": number, "sender_fees": paid}
        found.rows.append(Row(int(places[row]), identities[row] | cells))


def _add_steps(
    found: Wrapped, rows: pa.Table, contracts: pa.Table, tree: Tree, source: Source, notes: NotUnderstood
) -> None:
    steps = steps_of(rows, contracts, notes)
    places, identities = tree.places(rows["event_id"]), _identities(rows)
    coins = coins_of(source, [name for step in steps for name in step.receivers])
    for step in steps:
        place = int(places[step.row])
        found.metas[place] = step.meta
        cells = _of_step(step, coins)
        if cells is not None:
            found.rows.append(Row(place, identities[step.row] | cells))


def _of_step(step: Step, coins: dict[str, Amulet]) -> dict[str, Any] | None:
    """The row of a step that moved coin: to its receiver, or into a lock of the sender."""
    given = [coins[name] for name in step.receivers if name in coins]
    sums = sum((coin.amount.initial for coin in given), Decimal(0)) if given else None
    amount = sums if step.amount is None else step.amount
    if step.step == "completed":
        receiver = step.receiver or (given[0].owner if given else None)
        sender = step.sender or step.stated("sender")
        return _cells(sender, receiver, amount, step.meta)
    if step.step in {"pending", "allocated"} and step.sender is not None:
        return _cells(step.sender, step.sender, amount, step.meta)
    return None


def coins_of(source: Source, names: Iterable[str]) -> dict[str, Amulet]:
    """Coins that were created, by contract id."""
    wanted = pa.array(list(names), pa.string())
    if not len(wanted):
        return {}
    rows = source.creates([AMULET], ("contract_id", "payload"))
    rows = rows.filter(pc.is_in(rows["contract_id"], wanted))
    read = parsed(rows["payload"], Amulet, [""] * rows.num_rows, NotUnderstood())
    coins = zip(rows["contract_id"].to_pylist(), read, strict=True)
    return {name: coin for name, coin in coins if coin is not None and fits(coin.amount.initial)}


def _cells(sender: str | None, receiver: str | None, amount: Decimal | None, meta: Mapping[str, Any]) -> dict[str, Any]:
    reason = meta.get(f"{META}reason")
    return {
        "output_index": 0,
        "sender": sender,
        "receiver": receiver,
        "amount": amount,
        "kind": kind_of(meta, sender, receiver),
        "reason": reason if isinstance(reason, str) else None,
    }


def _identities(rows: pa.Table) -> list[dict[str, str]]:
    identities: list[dict[str, str]] = rows.select(["update_id", "event_id"]).to_pylist()
    return identities
