"""Reads `EventLog_HoldingsChange`, by which the token standard, version 2, reports transfers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.reading.choices import HOLDINGS_CHANGE
from ledgerframes.economics.reading.models import META, Meta
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import fits, parsed
from ledgerframes.economics.standard import ExtraArgs

_SENDER: Final = "SenderSide"


class Account(Struct, frozen=True, gc=False):
    """Whose account it is; none, where holdings come from or go to nowhere."""

    owner: str | None = None


class LegSide(Struct, frozen=True, gc=False):
    """One side of a leg."""

    id: str = member(name="transferLegId")
    side: str
    other: Account | None = member(name="otherside")
    amount: Decimal
    instrument: str = member(name="instrumentId")
    meta: Meta | None = None


class HoldingsChange(Struct, frozen=True, gc=False):
    """The argument of the choice."""

    admin: str
    account: Account | None
    legs: list[LegSide] = member(name="transferLegSides", default_factory=list)
    extra: ExtraArgs | None = member(name="extraArgs", default=None)


@dataclass(frozen=True, slots=True)
class Change:
    """One leg, told by one or both of its sides; without legs, a merge or a split."""

    row: int
    leg: int
    admin: str
    instrument: str | None
    sender: str | None
    receiver: str | None
    amount: Decimal | None
    kind: str
    meta: Mapping[str, Any]


def changes_of(rows: pa.Table, notes: NotUnderstood) -> list[Change]:
    """The legs that some exercises report, each once.

    Args:
        rows: exercises, with update_id, template_name and payload.
        notes: where exercises that cannot be read are counted.
    """
    names = [f"{template}/{HOLDINGS_CHANGE}" for template in rows["template_name"].to_pylist()]
    arguments = parsed(rows["payload"], HoldingsChange, names, notes)
    changes: dict[tuple[Any, ...], tuple[bool, Change]] = {}
    for row, (update, argument) in enumerate(zip(rows["update_id"].to_pylist(), arguments, strict=True)):
        if argument is None:
            continue
        if not all(fits(side.amount) for side in argument.legs):
            notes[names[row]] += 1
            continue
        for key, sends, change in _legs(row, argument):
            place = (update, argument.admin, *key)
            # Both sides tell the same; that of the sender comes first.
            if place not in changes or (sends and not changes[place][0]):
                changes[place] = (sends, change)
    return [change for _, change in changes.values()]


def _legs(row: int, argument: HoldingsChange) -> list[tuple[tuple[Any, ...], bool, Change]]:
    own = None if argument.account is None else argument.account.owner
    shared = {} if argument.extra is None or argument.extra.meta is None else dict(argument.extra.meta.values)
    if not argument.legs:
        change = Change(row, 0, argument.admin, None, own, own, None, _kind(shared, own, own, "merge-split"), shared)
        return [((row,), True, change)]
    legs: list[tuple[tuple[Any, ...], bool, Change]] = []
    for leg, side in enumerate(argument.legs):
        other = None if side.other is None else side.other.owner
        sends = side.side == _SENDER
        sender, receiver = (own, other) if sends else (other, own)
        meta = shared | ({} if side.meta is None else dict(side.meta.values))
        kind = _kind(meta, sender, receiver, "transfer")
        change = Change(row, leg, argument.admin, side.instrument, sender, receiver, side.amount, kind, meta)
        legs.append((("leg", side.id), sends, change))
    return legs


def _kind(meta: Mapping[str, Any], sender: str | None, receiver: str | None, otherwise: str) -> str:
    stated = meta.get(f"{META}tx-kind")
    if isinstance(stated, str) and stated:
        return stated
    if sender is None and receiver is not None:
        return "mint"
    return "burn" if receiver is None and sender is not None else otherwise
