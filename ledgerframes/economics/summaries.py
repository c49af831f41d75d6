"""Reads what transfers and purchases returned: round, summary and payment; rewards, transfers and burns use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.choices import PAYING, TRAFFIC, TRANSFER
from ledgerframes.economics.models import Meta, TransferResult, TransferSummary, WrappedResult
from ledgerframes.economics.not_understood import NotUnderstood
from ledgerframes.economics.parsing import blocks, fits, parsed
from ledgerframes.economics.source import Source

IDENTITY: Final = ("update_id", "event_id", "parent_event_id", "template_name", "choice", "record_time")
_DIRECT: Final = (TRANSFER, TRAFFIC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one exercise returned; every member is null where the result does not state it.

    Attributes:
        round: the round that it used.
        summary: inputs and fees.
        paid: coin paid for what was bought.
        meta: the result's metadata.
    """

    round: int | None = None
    summary: TransferSummary | None = None
    paid: Decimal | None = None
    meta: Meta | None = None


NOTHING: Final = Outcome()


def paying_exercises(source: Source, *columns: str, choices: Sequence[str] = PAYING) -> pa.Table:
    """The exercises that take coins and coupons in, with more columns than their identity if asked."""
    return source.exercises((*IDENTITY, *columns, "exercise_result"), choices=choices)


def outcomes_of(rows: pa.Table, notes: NotUnderstood) -> list[Outcome]:
    """What each exercise returned, in the order of the rows.

    Args:
        rows: with template_name, choice and exercise_result.
        notes: where results that cannot be read are counted.
    """
    found = [NOTHING] * rows.num_rows
    numbered = rows.select(["template_name", "choice", "exercise_result"]).append_column("row", _count(rows))
    direct = pc.is_in(numbered["choice"], pa.array(_DIRECT))
    for part in blocks(numbered.filter(direct)):
        for row, result in zip(part["row"].to_pylist(), _results(part, TransferResult, notes), strict=True):
            found[row] = _outcome(result, None, None)
    for part in blocks(numbered.filter(pc.invert(direct))):
        for row, result in zip(part["row"].to_pylist(), _results(part, WrappedResult, notes), strict=True):
            if result is not None:
                found[row] = _outcome(result.transfer or result.result, result.paid, result.meta)
    names = _names(rows)
    for row, outcome in enumerate(found):
        stated = (outcome.paid, *(() if outcome.summary is None else outcome.summary.values))
        if not all(map(fits, stated)):
            notes[names[row]] += 1
            found[row] = NOTHING
    return found


def _outcome(result: TransferResult | None, paid: Decimal | None, meta: Meta | None) -> Outcome:
    if result is None:
        return NOTHING if paid is None and meta is None else Outcome(paid=paid, meta=meta)
    number = None if result.round is None else result.round.number
    return Outcome(number, result.summary, result.paid if paid is None else paid, meta or result.meta)


def _results(rows: pa.Table, shape: Any, notes: NotUnderstood) -> list[Any]:
    return parsed(rows["exercise_result"], shape, _names(rows), notes)


def _names(rows: pa.Table) -> list[str]:
    pairs = zip(rows["template_name"].to_pylist(), rows["choice"].to_pylist(), strict=True)
    return [f"{template}/{choice}" for template, choice in pairs]


def _count(rows: pa.Table) -> pa.Array:
    return pa.array(range(rows.num_rows), pa.int64())
