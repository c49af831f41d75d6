"""What updates mint and burn: by their summaries, by taps and mints, by expiry, for names; `mint_burn` calls it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.coin_inputs import Inputs
from ledgerframes.economics.entries import Entries
from ledgerframes.economics.reading.amounts import list_sums, wide
from ledgerframes.economics.reading.choices import (
    COLLECTS,
    EXPIRIES,
    MINT,
    NAME_PAYMENTS,
    PAYING,
    PREAPPROVALS,
    STANDARD,
    TAP,
    TRAFFIC,
)
from ledgerframes.economics.reading.models import META, Meta, Round, TransferInput
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import fits, labels, parsed
from ledgerframes.economics.reading.source import Source
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.summaries import minted_by, other_fees, outcomes_of, paying_exercises

_COLUMNS: Final = ("update_id", "event_id", "parent_event_id", "record_time", "template_name", "choice", "contract_id")
_COIN_MODULES: Final = r"^Splice\.(Amulet|ExternalPartyAmulet)"


class Inner(Struct, frozen=True, gc=False):
    """The transfer inside an argument."""

    inputs: list[TransferInput] = member(default_factory=list)


class PayingArgument(Struct, frozen=True, gc=False):
    """The argument of a transfer or a purchase: its inputs stand at the top or in `transfer`."""

    transfer: Inner | None = None
    inputs: list[TransferInput] = member(default_factory=list)

    @property
    def coins(self) -> list[str]:
        """The coins that go in."""
        listed = self.inputs if self.transfer is None else self.transfer.inputs
        return [value.value for value in listed if value.tag == "InputAmulet" and isinstance(value.value, str)]


class CreateSum(Struct, frozen=True, gc=False):
    """What a tap or a mint made."""

    amulet: str
    round: Round | None = None


class Made(Struct, frozen=True, gc=False):
    """What a tap or a mint returned."""

    sum: CreateSum = member(name="amuletSum")


class ExpireSum(Struct, frozen=True, gc=False):
    """What an expiry states."""

    round: Round | None = None


class Expired(Struct, frozen=True, gc=False):
    """What an expiry returned."""

    sum: ExpireSum | None = member(name="expireSum", default=None)


class Collected(Struct, frozen=True, gc=False):
    """What the collection of a subscription's payment returned."""

    amulet: str | None = None


class WithMeta(Struct, frozen=True, gc=False):
    """Any result with metadata."""

    meta: Meta | None = None


def entries_of_summaries(source: Source, tree: Tree, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """Add what transfers and purchases mint and burn; one inside another is not counted again."""
    rows = paying_exercises(source)
    places = tree.places(rows["event_id"])
    outer = pa.array(tree.nearest(tree.above(places), tree.mask(PAYING)) < 0)
    outcomes = outcomes_of(rows, notes)
    entries.extend(_columns(rows.filter(outer), outcomes.filter(outer)))
    _settle(source, rows, outcomes, inputs)


def _columns(rows: pa.Table, outcomes: pa.Table) -> dict[str, Any]:
    """What exercises mint and burn."""
    zero = wide(pa.scalar(0, pa.int64()))
    fees, outputs = (
        pc.fill_null(values, zero) for values in (other_fees(outcomes), list_sums(outcomes["output_fees"]))
    )
    paid = pc.fill_null(wide(outcomes["paid"]), zero)
    bought = pc.equal(rows["choice"], TRAFFIC)
    return {
        **{name: rows[name] for name in ("update_id", "record_time")},
        "round": outcomes["round"],
        **{f"minted_{kind}": wide(values) for kind, values in minted_by(outcomes).items()},
        "burned_traffic": pc.if_else(bought, paid, zero),
        "burned_preapprovals": pc.if_else(pc.is_in(rows["choice"], pa.array(PREAPPROVALS)), paid, zero),
        # Of a purchase of traffic, the fees of outputs are inside what was paid.
        "burned_fees": wide(pc.add(fees, pc.if_else(bought, zero, outputs))),
    }


def _settle(source: Source, rows: pa.Table, outcomes: pa.Table, inputs: Inputs) -> None:
    """Find the amounts of inputs whose creates are not known, as sums that summaries state."""
    missing = inputs.missing()
    if not missing:
        return
    updates = pc.unique(inputs.ended.filter(pc.is_null(inputs.ended["amount"]))["update_id"])
    wanted = pc.is_in(rows["update_id"], updates)
    payloads = paying_exercises(source, "payload").filter(wanted)["payload"]
    arguments = parsed(payloads, PayingArgument, [""] * len(payloads), NotUnderstood())
    columns = (rows["update_id"].filter(wanted).to_pylist(), outcomes["coin"].filter(wanted).to_pylist())
    for update, amount, argument in zip(*columns, arguments, strict=True):
        coins = [] if argument is None else argument.coins
        # A purchase and the transfer inside it have the same inputs: the first of them settles these.
        if amount is not None and missing.intersection(coins) and not inputs.settled.intersection(coins):
            inputs.settle(update, coins, amount)


def minted_otherwise(source: Source, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """Add what taps and mints make: the coin that they created."""
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=[TAP, MINT])
    names = labels(rows)
    made = parsed(rows["exercise_result"], Made, names, notes)
    amounts = inputs.amount_of(value.sum.amulet for value in made if value is not None)
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time", "choice"))
    for name, update, time, choice, collected in zip(names, *columns, made, strict=True):
        amount = None if collected is None else amounts.get(collected.sum.amulet)
        if collected is None or amount is None:
            notes[name] += collected is not None  # one that cannot be read has been counted
            continue
        number = None if collected.sum.round is None else collected.sum.round.number
        entries.add(update, time, {"minted_tap" if choice == TAP else "minted_other": amount}, number)


def burned_otherwise(source: Source, tree: Tree, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """Add what expires, what is paid for names, and the fees that only metadata states."""
    _add_expired(source, inputs, entries)
    _add_names(source, tree, inputs, entries, notes)
    _add_stated(source, tree, entries)


def _add_expired(source: Source, inputs: Inputs, entries: Entries) -> None:
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=EXPIRIES)
    ended = inputs.ended.filter(pc.is_in(inputs.ended["choice"], pa.array(EXPIRIES)))
    amounts = dict(zip(ended["contract_id"].to_pylist(), ended["amount"].to_pylist(), strict=True))
    results = parsed(rows["exercise_result"], Expired, labels(rows), NotUnderstood())
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time", "contract_id"))
    for update, time, contract, result in zip(*columns, results, strict=True):
        stated = None if result is None or result.sum is None else result.sum.round
        entries.add(update, time, {"burned_expiry": amounts.get(contract)}, None if stated is None else stated.number)


def _add_names(source: Source, tree: Tree, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """A payment for a name collects a coin, which is burned in the same update."""
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=COLLECTS)
    below = tree.nearest(tree.above(tree.places(rows["event_id"])), tree.mask(NAME_PAYMENTS)) >= 0
    rows = rows.filter(pa.array(below))
    names = labels(rows)
    results = parsed(rows["exercise_result"], Collected, names, notes)
    coins = [None if result is None else result.amulet for result in results]
    amounts = inputs.amount_of(coin for coin in coins if coin is not None)
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time"))
    for name, update, time, coin in zip(names, *columns, coins, strict=True):
        if coin is not None and coin not in amounts:
            notes[name] += 1
        entries.add(update, time, {"burned_names": amounts.get(coin or "", None)})


def _add_stated(source: Source, tree: Tree, entries: Entries) -> None:
    """Fees of token-standard choices on the coin that have neither a summary nor a transfer with one."""
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=STANDARD)
    rows = rows.filter(pc.fill_null(pc.match_substring_regex(rows["template_name"], _COIN_MODULES), False))  # noqa: FBT003
    if not rows.num_rows:
        return
    paying = np.flatnonzero(tree.mask(PAYING))
    standard = tree.mask(STANDARD)
    summarized = set(_chain(tree, paying, standard))
    results = parsed(_records(rows["exercise_result"]), WithMeta, labels(rows), NotUnderstood())
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time"))
    places = tree.places(rows["event_id"])
    outer = tree.nearest(tree.above(places), standard) < 0
    for place, outermost, update, time, result in zip(places, outer, *columns, results, strict=True):
        burned = None if result is None or result.meta is None else result.meta.values.get(f"{META}burned")
        if outermost and int(place) not in summarized and isinstance(burned, str):
            value = _decimal(burned)
            if value is not None:
                entries.add(update, time, {"burned_fees": value})


def _chain(tree: Tree, places: Any, mask: Any) -> list[int]:
    """Every row above some places where a mask is true."""
    above: list[int] = []
    at = tree.nearest(tree.above(places), mask)
    while (at := np.unique(at[at >= 0])).size:
        above += at.tolist()
        at = tree.nearest(tree.above(at), mask)
    return above


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except ArithmeticError:
        return None
    return value if fits(value) else None


def _records(texts: pa.ChunkedArray) -> Any:
    return pc.if_else(pc.fill_null(pc.starts_with(texts, "{"), False), texts, "{}")  # noqa: FBT003
