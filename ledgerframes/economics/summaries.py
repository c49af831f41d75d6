"""Reads what transfers and purchases returned: round, summary and payment; rewards, transfers and burns use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from ledgerframes.economics.reading.amounts import narrow, wide
from ledgerframes.economics.reading.choices import PAYING, TRAFFIC, TRANSFER
from ledgerframes.economics.reading.models import META, Round, TransferResult, TransferSummary, WrappedResult
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import Member, columns_of
from ledgerframes.economics.reading.source import Source
from ledgerframes.tables.kinds import AMOUNT

IDENTITY: Final = ("update_id", "event_id", "parent_event_id", "template_name", "choice", "record_time")
_DIRECT: Final = (TRANSFER, TRAFFIC)
_READ: Final = ("template_name", "choice", "exercise_result")
#: The amounts of a summary but for the fees of its outputs.
_SUMS: Final = (
    *("app", "validator", "faucet", "sv", "unclaimed_activity", "development_fund"),
    *("coin", "holding_fees", "change_fee", "change", "price"),
)
#: The kinds of rewards that a summary states.
MINTED_KINDS: Final = ("app", "validator", "validator_faucet", "sv", "unclaimed_activity", "development_fund")
#: What a result's metadata says, and whether it says it: what it does not say, the choice around it may say.
SAYINGS: Final = {"tx_kind": f"{META}tx-kind", "reason": f"{META}reason"}
_SAYS: Final = tuple(f"says_{name}" for name in SAYINGS)
_KINDS: Final = {
    "round": pa.int64(),
    "paid": AMOUNT.arrow,
    "stated": pa.bool_(),
    "output_fees": pa.list_(AMOUNT.arrow),
    **dict.fromkeys(_SUMS, AMOUNT.arrow),
    **dict.fromkeys(SAYINGS, pa.string()),
    **dict.fromkeys(_SAYS, pa.bool_()),
}


def paying_exercises(source: Source, *columns: str, choices: Sequence[str] = PAYING) -> pa.Table:
    """The exercises that take coins and coupons in, with more columns than their identity if asked."""
    return source.exercises((*IDENTITY, *columns, "exercise_result"), choices=choices)


def outcomes_of(rows: pa.Table, notes: NotUnderstood, *, sayings: bool = False) -> pa.Table:
    """What each exercise returned, in the order of the rows; null is what a result does not state.

    Args:
        rows: with template_name, choice and exercise_result.
        notes: where results that cannot be read are counted.
        sayings: whether to read the metadata.

    Returns:
        The round that it used; `paid` for what was bought; `stated`, whether there is a summary, and its amounts. With
        `sayings`, of `tx_kind` and `reason` the text, and in `says_tx_kind` and `says_reason` whether they are there.
    """
    left_out = () if sayings else (*SAYINGS, *_SAYS)
    numbered = rows.select(list(_READ)).append_column("row", pa.array(np.arange(rows.num_rows)))
    direct = pc.is_in(numbered["choice"], pa.array(_DIRECT))
    parts = [
        columns_of(part, "exercise_result", shape, _KINDS, _without(values, left_out), notes, choice="choice")
        for part, shape, values in (
            (numbered.filter(direct), TransferResult, _OF_TRANSFERS),
            (numbered.filter(pc.invert(direct)), WrappedResult, _OF_WRAPPERS),
        )
    ]
    outcomes = pa.concat_tables(parts)
    places = np.full(rows.num_rows, -1, np.int64)
    places[outcomes["row"].to_numpy()] = np.arange(outcomes.num_rows)
    aligned = outcomes.drop_columns([*_READ[:2], "row"]).take(pa.array(places, mask=places < 0))
    for name in ("stated", *(_SAYS if sayings else ())):
        there = pc.fill_null(aligned[name], False)  # noqa: FBT003
        aligned = aligned.set_column(aligned.column_names.index(name), name, there)
    return aligned


def minted_by(outcomes: pa.Table) -> dict[str, Any]:
    """What each exercise minted, by kind: validators' rewards contain the faucets, which are counted once."""
    zero = pa.scalar(0, pa.int64()).cast(AMOUNT.arrow)
    known = {name: pc.fill_null(outcomes[name], zero) for name in _SUMS[: len(MINTED_KINDS)]}
    validator = narrow(pc.subtract(wide(known["validator"]), wide(known["faucet"])))
    return dict(
        zip(
            MINTED_KINDS,
            (known["app"], validator, *(known[name] for name in ("faucet", "sv", *MINTED_KINDS[4:]))),
            strict=True,
        )
    )


def other_fees(outcomes: pa.Table) -> Any:
    """Holding fees and the fee of the change, wide."""
    return pc.add(wide(outcomes["holding_fees"]), wide(outcomes["change_fee"]))


def metas_of(outcomes: pa.Table) -> list[dict[str, str | None]]:
    """Of the metadata of each result, what tables read."""
    metas: list[dict[str, str | None]] = [{} for _ in range(outcomes.num_rows)]
    for name, key in SAYINGS.items():
        pairs = zip(outcomes[name].to_pylist(), outcomes[f"says_{name}"].to_pylist(), strict=True)
        for meta, (text, said) in zip(metas, pairs, strict=True):
            if said:
                meta[key] = text
    return metas


def _values(
    summary: Callable[[Any], Any],
    mining_round: Callable[[Any], Any],
    paid: Callable[[Any], Any],
    meta: Callable[[Any], Any],
) -> dict[str, Callable[[Any], Any]]:
    """The columns of a result, from what gives its summary, its round, what was paid, and its metadata."""

    def said(name: str) -> Callable[[Any], str | None]:
        def text(one: Any) -> str | None:
            values = meta(one)
            value = None if values is None else getattr(values.values, name)
            return value if isinstance(value, str) else None

        return text

    def says(name: str) -> Callable[[Any], bool]:
        return lambda one: (values := meta(one)) is not None and getattr(values.values, name) is not UNSET

    return {
        "round": Member(mining_round, "number"),
        "paid": paid,
        "stated": Member(summary),
        "output_fees": Member(summary, "output_fees"),
        **{name: Member(summary, name) for name in _SUMS},
        **{name: said(name) for name in SAYINGS},
        **{f"says_{name}": says(name) for name in SAYINGS},
    }


def _without(values: Mapping[str, Callable[[Any], Any]], names: Sequence[str]) -> dict[str, Callable[[Any], Any]]:
    return {name: value for name, value in values.items() if name not in names}


def _inner(one: WrappedResult) -> TransferResult | None:
    return one.transfer or one.result


def _summary(one: WrappedResult) -> TransferSummary | None:
    inner = _inner(one)
    return None if inner is None else inner.summary


def _round(one: WrappedResult) -> Round | None:
    inner = _inner(one)
    return None if inner is None else inner.round


def _paid(one: WrappedResult) -> Any:
    inner = _inner(one)
    return one.paid if one.paid is not None or inner is None else inner.paid


def _meta(one: WrappedResult) -> Any:
    inner = _inner(one)
    return one.meta if one.meta is not None or inner is None else inner.meta


_OF_TRANSFERS: Final = _values(*map(attrgetter, ("summary", "round", "paid", "meta")))
_OF_WRAPPERS: Final = _values(_summary, _round, _paid, _meta)
