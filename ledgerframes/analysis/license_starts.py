"""When each validator began: by its first round and the times of rounds, or by its first license in the history."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_whole
from ledgerframes.analysis.payloads import record_fields
from ledgerframes.errors import InputError
from ledgerframes.frames import to_arrow
from ledgerframes.tables.history import EVENTS

LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"
_PLACE: Final = ("migration_id", "record_time", "update_id", "node_index")
_EVENTS: Final = (*_PLACE, "event_type", "template_name", "contract_id", "consuming", "payload")
_ADVICE: Final = "give the whole history (start from ledger begin), or licenses with rounds="


@dataclass(frozen=True)
class Starts:
    """When validators began.

    Attributes:
        times: one per validator, in UTC.
        attrs: what they rest on, for the frame made of them.
    """

    times: pd.Series
    attrs: Mapping[str, Any]


def by_rounds(licenses: pd.DataFrame, rounds: pd.DataFrame) -> Starts:
    """The time of each validator's first round; validators that never received a coupon are counted in `attrs`.

    Raises:
        InputError: `rounds` is not such a frame, or a first round lies outside it.
    """
    known = _round_times(rounds)
    # `created_at` would not do: a license is created anew at every change, 711 of 792 within a day on a real network.
    firsts = licenses.groupby("validator")["first_round"].min()
    received = [int(number) for number in firsts.dropna()]
    numbers = sorted(known)
    _check_inside(received, numbers)
    moments = [_opened(number, numbers, known) for number in received]
    between = sum(number not in known for number in received)
    times = pd.Series(pd.to_datetime(moments, unit="us", utc=True)).astype("datetime64[us, UTC]")
    span = f"{len(numbers):,} known rounds, {numbers[0]} to {numbers[-1]}" if numbers else "no known round"
    return Starts(
        times,
        {
            "basis": f"first_round, timed by {span}; times between known rounds are interpolated linearly",
            "interpolated": between,
            "never_received": int(firsts.isna().sum()),
        },
    )


def by_first_license(events: Any) -> Starts:
    """The record time at which each validator's first license was created, not made anew from an older one.

    Raises:
        InputError: columns are missing, or the first license of a validator is not in the events.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.
    """
    # Without the beginning, the first license seen need not be the first one.
    check_whole(events, name="events", opening=None, advice=_ADVICE)
    rows = to_arrow(events, EVENTS, _EVENTS, name="events")
    own = rows.filter(pc.equal(rows["template_name"], LICENSE))
    order = [(name, "ascending") for name in ("migration_id", "record_time", "update_id", "node_index")]
    own = own.take(pc.sort_indices(own, sort_keys=order))
    creates = own.filter(pc.equal(own["event_type"], "created_event"))
    validators = record_fields(creates["payload"], ["validator"], infer=False).get("validator")
    names = [] if validators is None else validators.to_pylist()
    if any(name is None for name in names):
        raise InputError(f"events: {names.count(None)} creates of {LICENSE} name no validator; they cannot be counted")
    # A create is a renewal if its transaction archives an older license of the same validator.
    renewed = _renewed(creates, own.filter(pc.fill_null(own["consuming"], False)), names)  # noqa: FBT003
    frame = pd.DataFrame(
        {"validator": names, "micros": creates["record_time"].cast(pa.int64()).to_pylist(), "renewed": renewed}
    )
    firsts = frame[~frame["renewed"].astype(bool)].groupby("validator")["micros"].min()
    lost = frame["validator"].nunique() - len(firsts)
    if lost:
        raise InputError(
            f"events: {lost:,} of {frame['validator'].nunique():,} validators have no first license here, only ones"
            " made anew from an older license; give licenses with rounds= instead"
        )
    times = pd.to_datetime(firsts, unit="us", utc=True).astype("datetime64[us, UTC]")
    return Starts(times, {"basis": "the first license of each validator in the history"})


def _renewed(creates: pa.Table, ends: pa.Table, names: Sequence[str]) -> list[bool]:
    """For each create, whether an older license of its validator, or one not created here, ended in its update."""
    made = {contract: (row, names[row]) for row, contract in enumerate(creates["contract_id"].to_pylist())}
    ended: dict[str, list[tuple[int, str | None]]] = {}
    for update, contract in zip(ends["update_id"].to_pylist(), ends["contract_id"].to_pylist(), strict=True):
        ended.setdefault(update, []).append(made.get(contract, (-1, None)))
    return [
        any(older < row and name in {None, names[row]} for older, name in ended.get(update, ()))
        for row, update in enumerate(creates["update_id"].to_pylist())
    ]


def _round_times(rounds: pd.DataFrame) -> dict[int, int]:
    """Round -> microseconds at which it opened."""
    missing = [name for name in ("round", "opens_at") if name not in rounds.columns]
    if missing:
        raise InputError(f"rounds has no column(s) {', '.join(missing)}; give a frame with round and opens_at")
    rows = rounds[["round", "opens_at"]].dropna()
    if not isinstance(rows["opens_at"].dtype, pd.DatetimeTZDtype) and len(rows):
        raise InputError(
            f"rounds: opens_at is {rounds['opens_at'].dtype}, not times with a zone; say the zone, for example"
            " rounds['opens_at'] = pd.to_datetime(rounds['opens_at'], utc=True)"
        )
    try:
        numbers = rows["round"].astype("int64").tolist()
    except (ValueError, TypeError) as error:
        raise InputError(f"rounds: round holds a value that is not a whole number: {error}") from error
    micros = rows["opens_at"].dt.tz_convert("UTC").dt.as_unit("us").astype("int64").tolist() if len(rows) else []
    known: dict[int, int] = {}
    for number, opened in sorted(zip(numbers, micros, strict=True)):
        # Two times for one round would shift every validator dated by it.
        if known.setdefault(number, opened) != opened:
            raise InputError(f"rounds: round {number} has two times; give each round once")
    times = [known[number] for number in sorted(known)]
    if times != sorted(times):
        late = next(n for n, earlier, two in zip(sorted(known), times, times[1:], strict=False) if earlier > two)
        raise InputError(f"rounds: round {late} opens after the one that follows it; times must grow with the rounds")
    return known


def _check_inside(received: Sequence[int], numbers: Sequence[int]) -> None:
    """Refuse what only guessing could date: a round lasts about ten minutes, but not always."""
    if received and not numbers:
        raise InputError(f"rounds is empty: the first rounds of {len(received):,} validators cannot be dated")
    early = [number for number in received if number < numbers[0]]
    late = [number for number in received if number > numbers[-1]]
    parts = [
        f"{len(bound):,} of {len(received):,} validators first received in rounds {min(bound)} to {max(bound)},"
        f" {where} known round ({edge})"
        for bound, where, edge in (
            (early, "before the first", numbers[0] if numbers else 0),
            (late, "after the last", numbers[-1] if numbers else 0),
        )
        if bound
    ]
    if parts:
        raise InputError(
            f"rounds: {'; '.join(parts)}. Rounds do not last equally long, so nothing is extrapolated: add round"
            " times that reach there, or leave these validators out"
        )


def _opened(number: int, numbers: Sequence[int], known: Mapping[int, int]) -> int:
    """When a round opened, in microseconds; on the straight line between the known rounds around it."""
    if number in known:
        return known[number]
    place = bisect_left(numbers, number)
    left, right = numbers[place - 1], numbers[place]
    # In integers: microseconds between rounds, times a number of rounds, can exceed the 53 exact bits of a float.
    return known[left] + (known[right] - known[left]) * (number - left) // (right - left)
