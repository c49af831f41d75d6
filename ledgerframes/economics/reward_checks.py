"""Holds the ledger's own sums of rewards against the coupons: what expired together, and what a transfer claimed."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from ledgerframes.economics.reading.amounts import EXACT, rounded
from ledgerframes.economics.reading.choices import PAYING
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import parsed
from ledgerframes.economics.reading.source import Source
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.reward_kinds import EXPIRIES, KINDS, issued_kind
from ledgerframes.economics.rounds import Rounds
from ledgerframes.economics.summaries import minted_by, outcomes_of, paying_exercises

_UNCLAIMED: Final = "Splice.Amulet:UnclaimedReward"
Counts = dict[str, int]


class Expiry(Struct, frozen=True, gc=False):
    """The argument of `_DsoExpire`."""

    closed: str | None = field(name="closedRoundCid", default=None)


class Expired(Struct, frozen=True, gc=False):
    """What it returned: the weight under either of two names."""

    weight: Decimal | None = None
    amount: Decimal | None = None
    featured: bool | None = None


class Unclaimed(Struct, frozen=True, gc=False):
    """The contract of what nobody claimed."""

    amount: Decimal


def check_expiries(source: Source, known: Rounds) -> Counts:
    """Compare each `UnclaimedReward` with the coupons that expired in the same exercise, rounded once."""
    notes = NotUnderstood()  # the table has counted them already
    created = source.creates([_UNCLAIMED], ("template_name", "parent_event_id", "payload"))
    stated = {
        above: None if contract is None else contract.amount
        for above, contract in zip(
            created["parent_event_id"].to_pylist(),
            parsed(created["payload"], Unclaimed, created["template_name"].to_pylist(), notes),
            strict=True,
        )
        if above is not None
    }
    counts = _no_counts()
    for above, worth in _expired_by(source, known, notes).items():
        if above in stated:
            counts[_verdict(None if worth is None else rounded(worth), stated[above])] += 1
    return counts


def _expired_by(source: Source, known: Rounds, notes: NotUnderstood) -> dict[str, Decimal | None]:
    """The unrounded worth of the coupons that expired below each exercise; None where one is not known."""
    columns = ("parent_event_id", "template_name", "payload", "exercise_result")
    templates = [name for name, kind in KINDS.items() if not kind.in_coin]
    rows = source.exercises(columns, choices=EXPIRIES, templates=templates)
    names = rows["template_name"].to_pylist()
    results = pc.if_else(pc.starts_with(rows["exercise_result"], "{"), rows["exercise_result"], "{}")
    sums: dict[str, Decimal | None] = {}
    for above, name, argument, result in zip(
        rows["parent_event_id"].to_pylist(),
        names,
        parsed(rows["payload"], Expiry, names, notes),
        parsed(results, Expired, names, notes),
        strict=True,
    ):
        worth = None
        if argument is not None and result is not None and argument.closed is not None:
            kind = issued_kind(KINDS[name].name, featured=result.featured)
            issuance = known.issuance(known.by_contract.get(argument.closed), kind)
            weight = result.weight if result.weight is not None else result.amount
            weight = Decimal(1) if weight is None and kind == "validator_faucet" else weight
            worth = None if issuance is None or weight is None else EXACT.multiply(weight, issuance)
        before = sums.get(above, Decimal(0))
        sums[above] = None if worth is None or before is None else before + worth
    return sums


def check_claims(source: Source, lives: Lifetimes, tree: Tree, rows: pa.Table) -> Counts:
    """Compare the inputs in each transfer's summary with the coupons that it claimed, kind by kind."""
    claimed = _claimed(lives, tree, rows)
    counts = _no_counts()
    if not claimed and not lives.ends.num_rows:
        return counts
    exercises = paying_exercises(source)
    exercises = exercises.filter(pc.is_in(exercises["event_id"], pa.array(list(claimed), pa.string())))
    outcomes = outcomes_of(exercises, NotUnderstood())
    stated = outcomes["stated"]
    names = exercises["event_id"].filter(stated).to_pylist()
    for kind, values in minted_by(outcomes.filter(stated)).items():
        for name, value in zip(names, values.to_pylist(), strict=True):
            ours = claimed[name]
            if kind in ours or value:
                counts[_verdict(ours.get(kind, Decimal(0)), value)] += 1
    return counts


def _claimed(lives: Lifetimes, tree: Tree, rows: pa.Table) -> dict[str, dict[str, Decimal | None]]:
    """For each paying exercise the sum of what it claimed by kind; None where a coupon's worth is not known."""
    worth = dict(zip(rows["contract_id"].to_pylist(), rows["amount"].to_pylist(), strict=True))
    places = tree.nearest(tree.places(lives.ends["parent_event_id"]), tree.mask(PAYING))
    names = tree.rows["event_id"].take(pa.array(places, mask=places < 0)).to_pylist()
    sums: dict[str, dict[str, Decimal | None]] = defaultdict(dict)
    ends = zip(names, lives.ends["template_name"].to_pylist(), lives.ends["contract_id"].to_pylist(), strict=True)
    for name, template, contract in ends:
        if name is not None:
            kind, value = KINDS[template].name, worth.get(contract)
            before = sums[name].get(kind, Decimal(0))
            sums[name][kind] = None if value is None or before is None else before + value
    return sums


def _verdict(ours: Decimal | None, stated: Any) -> str:
    return "unknown" if ours is None or stated is None else "equal" if ours == stated else "different"


def _no_counts() -> Counts:
    return {"equal": 0, "different": 0, "unknown": 0}
