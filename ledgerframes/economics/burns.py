"""What updates mint and burn: by their summaries, by taps and mints, by expiry, for names; `mint_burn` calls it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.choices import (
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
from ledgerframes.economics.coin_inputs import Inputs
from ledgerframes.economics.entries import Cells, Entries
from ledgerframes.economics.models import META, Meta, Round, TransferInput
from ledgerframes.economics.not_understood import NotUnderstood
from ledgerframes.economics.parsing import fits, parsed
from ledgerframes.economics.reward_checks import minted
from ledgerframes.economics.source import Source
from ledgerframes.economics.summaries import Outcome, outcomes_of, paying_exercises
from ledgerframes.economics.tree import Tree

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
    rows = paying_exercises(source, "payload")
    places = tree.places(rows["event_id"])
    outer = tree.nearest(tree.above(places), tree.mask(PAYING)) < 0
    outcomes = outcomes_of(rows, notes)
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time", "choice"))
    for update, time, choice, outcome, counts in zip(*columns, outcomes, outer, strict=True):
        if counts:
            entries.add(update, time, _cells(choice, outcome), outcome.round)
    _settle(rows, outcomes, inputs)


def _cells(choice: str, outcome: Outcome) -> Cells:
    summary = outcome.summary
    cells: Cells = {} if summary is None else {f"minted_{kind}": value for kind, value in minted(summary).items()}
    outputs = Decimal(0) if summary is None else sum(summary.output_fees, Decimal(0))
    fees = Decimal(0) if summary is None else summary.other_fees
    if choice == TRAFFIC:
        # The fees of outputs are inside what was paid.
        return cells | {"burned_traffic": outcome.paid or Decimal(0), "burned_fees": fees}
    if choice in PREAPPROVALS:
        return cells | {"burned_preapprovals": outcome.paid or Decimal(0), "burned_fees": fees + outputs}
    return cells | {"burned_fees": fees + outputs}


def _settle(rows: pa.Table, outcomes: Sequence[Outcome], inputs: Inputs) -> None:
    """Find the amounts of inputs whose creates are not known, as sums that summaries state."""
    missing = inputs.missing()
    if not missing:
        return
    updates = inputs.ended.filter(pc.is_null(inputs.ended["amount"]))["update_id"]
    places = np.flatnonzero(pc.is_in(rows["update_id"], pc.unique(updates)).to_numpy(zero_copy_only=False))
    wanted = rows.take(pa.array(places))
    arguments = parsed(wanted["payload"], PayingArgument, [""] * len(places), NotUnderstood())
    for place, update, argument in zip(places, wanted["update_id"].to_pylist(), arguments, strict=True):
        summary = outcomes[int(place)].summary
        coins = [] if argument is None else argument.coins
        # A purchase and the transfer inside it have the same inputs: the first of them settles these.
        if summary is not None and missing.intersection(coins) and not inputs.settled.intersection(coins):
            inputs.settle(update, coins, summary.coin)


def minted_otherwise(source: Source, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """Add what taps and mints make: the coin that they created."""
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=[TAP, MINT])
    names = _names(rows)
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
    results = parsed(rows["exercise_result"], Expired, _names(rows), NotUnderstood())
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time", "contract_id"))
    for update, time, contract, result in zip(*columns, results, strict=True):
        stated = None if result is None or result.sum is None else result.sum.round
        entries.add(update, time, {"burned_expiry": amounts.get(contract)}, None if stated is None else stated.number)


def _add_names(source: Source, tree: Tree, inputs: Inputs, entries: Entries, notes: NotUnderstood) -> None:
    """A payment for a name collects a coin, which is burned in the same update."""
    rows = source.exercises((*_COLUMNS, "exercise_result"), choices=COLLECTS)
    below = tree.nearest(tree.above(tree.places(rows["event_id"])), tree.mask(NAME_PAYMENTS)) >= 0
    rows = rows.filter(pa.array(below))
    names = _names(rows)
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
    results = parsed(_records(rows["exercise_result"]), WithMeta, _names(rows), NotUnderstood())
    columns = (rows[name].to_pylist() for name in ("update_id", "record_time"))
    for place, update, time, result in zip(tree.places(rows["event_id"]), *columns, results, strict=True):
        outermost = tree.nearest(tree.above(np.array([place])), standard)[0] < 0
        burned = None if result is None or result.meta is None else result.meta.values.get(f"{META}burned")
        if outermost and int(place) not in summarized and isinstance(burned, str):
            value = _decimal(burned)
            if value is not None:
                entries.add(update, time, {"burned_fees": value})


def _chain(tree: Tree, places: Any, mask: Any) -> list[int]:
    """Every row above some places where a mask is true."""
    found: list[int] = []
    at = tree.nearest(tree.above(places), mask)
    while (at := np.unique(at[at >= 0])).size:
        found += at.tolist()
        at = tree.nearest(tree.above(at), mask)
    return found


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except ArithmeticError:
        return None
    return value if fits(value) else None


def _records(texts: pa.ChunkedArray) -> Any:
    return pc.if_else(pc.fill_null(pc.starts_with(texts, "{"), False), texts, "{}")  # noqa: FBT003


def _names(rows: pa.Table) -> list[str]:
    pairs = zip(rows["template_name"].to_pylist(), rows["choice"].to_pylist(), strict=True)
    return [f"{template}/{choice}" for template, choice in pairs]
