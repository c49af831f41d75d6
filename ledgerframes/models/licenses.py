"""`license_growth`, `license_activity`, `license_versions`, `instrument_supply`: validators and supply over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import duration, suggesting
from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals, to_pandas
from ledgerframes.loaders.history import History
from ledgerframes.models.computing import computed
from ledgerframes.models.coverage import check_whole
from ledgerframes.models.declared_reads import LICENSE
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs, columns_of, inputs_of, inputs_of_snapshot, is_store
from ledgerframes.models.reassignments import period_variables
from ledgerframes.paging.cursor import Cursor, When
from ledgerframes.tables.from_snapshots import (
    INSTRUMENT_SUPPLY,
    LICENSE_ACTIVITY,
    LICENSE_GROWTH,
    LICENSE_VERSIONS,
    SNAPSHOTS_READ,
)
from ledgerframes.timestamps import to_micros

_ADVICE: Final = 'give the whole history (start="begin"), or licenses with rounds='
_ROUNDS: Final = "pd.DataFrame({'round': [...], 'opens_at': [...]})"


@suggesting
def license_growth(licenses: Any, *, rounds: Any = None, period: str = "D") -> pd.DataFrame:
    """Count validators by when each began.

    A license contract is made again at every change, so its `created_at` is not when the validator began. Its first
    round is, and the times of rounds date it; or the whole history shows each validator's first license.

    Args:
        licenses: one load of licenses, snapshots of a store, or a store, which need `rounds`; or a whole history: its
            events, a `History`, a `Store`, or a path of Parquet.
        rounds: with licenses: a frame of known rounds, columns round and opens_at. A first round between two known
            ones is placed on the straight line between them; one outside them is refused, because rounds do not last
            equally long.
        period: "h", "D", "W" or "MS".

    Returns:
        One row per period, including those without a new validator: time (its beginning), new, validators (so far).
        `attrs` hold what the times are based on (`basis`), how many are interpolated, and how many validators never
        received a coupon and so are left out (`never_received`), and the period in words or microseconds (`period`).

    Raises:
        InputError: columns are missing, the period is not valid, licenses come without rounds, or validators began
            outside the known rounds: the message counts them.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     growth = lf.license_growth(lf.load_events(net), period="h")
        >>> growth.columns.to_list(), growth.validators.is_monotonic_increasing
        (['time', 'new', 'validators'], True)
    """
    return growth_until(licenses, None, rounds=rounds, period=period)


def growth_until(licenses: Any, until: Cursor | int | None, *, rounds: Any = None, period: str = "D") -> pd.DataFrame:
    """The same up to a moment of a whole history: a place, or microseconds in every migration; inclusive."""
    variables = period_variables(period)
    if _is_history(licenses, rounds):
        inputs, notes = _whole(licenses, rounds), {"basis": "the first license of each validator in the history"}
    else:
        inputs, notes = _dated(licenses, rounds)

    def notes_of(engine: Engine, _: pa.Table) -> Mapping[str, Any]:
        _check_starts(engine.rows("license_starts"))
        return {**notes, "period": variables.get("calendar") or variables["every_us"]}

    growth: pd.DataFrame = computed(
        LICENSE_GROWTH, inputs, as_="pandas", decimals=None, until=until, variables=variables, notes=notes_of
    )
    return growth


def _is_history(licenses: Any, rounds: Any) -> bool:
    """Whether the value of licenses is a history; a store and files have both, and rounds are for licenses."""
    both = isinstance(licenses, str | Path) or is_store(licenses)
    return isinstance(licenses, History) or "event_type" in columns_of(licenses) or (both and rounds is None)


def _whole(events: Any, rounds: Any) -> Inputs:
    if rounds is not None:
        raise InputError("rounds= is for licenses; events show when each license was created")
    inputs = inputs_of(events)
    # Without the beginning, the first license seen need not be the first one.
    check_whole(inputs.attrs, opening=None, advice=_ADVICE)
    return inputs


def _check_starts(starts: pa.Table) -> None:
    """Refuse licenses that name no validator, and validators whose first license is not in the history."""
    if starts["validator"].null_count:
        raise InputError(f"events: creates of {LICENSE} name no validator; they cannot be counted")
    if lost := starts["time"].null_count:
        raise InputError(
            f"events: {lost:,} of {len(starts):,} validators have no first license here, only ones made again from an"
            " older license; give licenses with rounds= instead"
        )


def _dated(licenses: Any, rounds: Any) -> tuple[Inputs, dict[str, Any]]:
    """When listed validators began, and what that rests on."""
    inputs = inputs_of_snapshot("licenses", licenses, "validator", "first_round")
    known = SNAPSHOTS_READ["known_rounds"].schema.empty_table() if rounds is None else _known(rounds)
    with Engine({**inputs.gives, "known_rounds": lambda *_: known}) as engine:
        dated = engine.interruptible(lambda: engine.rows("dated_licenses"), "licenses")
    if rounds is None and len(dated):
        raise InputError(
            f"rounds= is needed to date the first rounds of {len(dated):,} validators (a license's created_at is only"
            " its last change); give a frame of round and opens_at, or give the events of the whole history in place"
            " of licenses"
        )
    received = dated.filter(pc.is_valid(dated["round"]))
    numbers = known["round"].to_pylist()
    span = f"{len(numbers):,} known rounds, {numbers[0]} to {numbers[-1]}" if numbers else "no known round"
    if outside := received.filter(pc.is_null(received["time"]))["round"].to_pylist():
        # Only guessing could date these.
        raise InputError(
            f"rounds has {span}, and {len(outside):,} of {len(received):,} validators first received in rounds"
            f" {min(outside)} to {max(outside)}. Rounds do not last equally long, so nothing is extrapolated: add round"
            " times that reach there, or leave these validators out"
        )
    notes = {
        "basis": f"first_round, timed by {span}; times between known rounds are interpolated linearly",
        "interpolated": pc.sum(received["interpolated"]).as_py() or 0,
        "never_received": len(dated) - len(received),
    }
    starts = received.select(["validator", "time"])
    return replace(inputs, gives={"license_starts": lambda *_: starts}), notes


def _known(rounds: Any) -> pa.Table:
    """Known rounds in order, each once.

    Raises:
        InputError: two times are given for a round, a later one opens earlier, or values are not valid.
    """
    frame = to_pandas(rounds, ("round", "opens_at"), name="rounds", giver=_ROUNDS)[["round", "opens_at"]].dropna()
    if not isinstance(frame["opens_at"].dtype, pd.DatetimeTZDtype) and len(frame):
        raise InputError(
            f"rounds: opens_at is {frame['opens_at'].dtype}, not times with a zone; set the zone, for example"
            " rounds['opens_at'] = pd.to_datetime(rounds['opens_at'], utc=True)"
        )
    try:
        known = frame.assign(round=frame["round"].astype("int64")).drop_duplicates().sort_values(["round", "opens_at"])
    except (ValueError, TypeError) as error:
        raise InputError(f"rounds: round contains a value that is not a whole number: {error}") from error
    # Two times for one round would shift every validator dated by it.
    for number in known["round"][known["round"].duplicated()]:
        raise InputError(f"rounds: round {number} has two times; give each round once")
    for number in known["round"][known["opens_at"] > known["opens_at"].shift(-1)]:
        raise InputError(f"rounds: round {number} opens after the one that follows it; times must grow with the rounds")
    return pa.Table.from_pandas(known, SNAPSHOTS_READ["known_rounds"].schema, preserve_index=False)


@suggesting
def license_activity(licenses: Any, *, now: When | None = None, within: str | timedelta = "1d") -> pd.DataFrame:
    """List which validators were active recently, and how many coupons they missed.

    Args:
        licenses: the result of `load_licenses`, a stored table, or a `Store`.
        now: the time to count back from; by default the latest activity in the frame.
        within: how long ago still counts as active.

    Returns:
        One row per validator, those never active first, then by how long ago, with the columns of
        `lf.describe("license_activity")`: `silent_for` and `active` are null for one never active.

    Raises:
        InputError: columns are missing, or an argument is not a time.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     activity = lf.license_activity(lf.load_licenses(net), within="1h")
        >>> activity.validator.is_unique
        True
    """
    inputs = inputs_of_snapshot(
        "licenses", licenses, "validator", "sponsor", "version", "last_active_at", "coupons_missed"
    )
    variables = {"within_us": duration(within, "within"), "now_us": None if now is None else to_micros(now, "now")}
    activity: pd.DataFrame = computed(LICENSE_ACTIVITY, inputs, as_="pandas", decimals=None, variables=variables)
    return activity


@suggesting
def license_versions(
    licenses: Any, *, active_within: str | timedelta | None = None, now: When | None = None
) -> pd.DataFrame:
    """Count validators by the version they run.

    Args:
        licenses: the result of `load_licenses`, a stored table, or a `Store`.
        active_within: only validators that were active within this long before `now`; all by default, among them
            those that stopped long ago.
        now: the time to count back from; by default the latest activity in the frame.

    Returns:
        One row per version, the most frequent first, with the columns of `lf.describe("license_versions")`: a version
        that is not known is null, `share` is 0 to 1 of those counted.

    Raises:
        InputError: columns are missing, or an argument is not valid.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     versions = lf.license_versions(lf.load_licenses(net))
        >>> versions.columns.to_list(), round(float(versions.share.sum()), 6)
        (['version', 'validators', 'share'], 1.0)
    """
    needed = ("validator", "version") if active_within is None else ("validator", "version", "last_active_at")
    inputs = inputs_of_snapshot("licenses", licenses, *needed)
    if active_within is None and now is not None:
        raise InputError(f"now={now!r} needs active_within=: without it all validators count")
    variables = {
        "within_us": None if active_within is None else duration(active_within, "active_within"),
        "now_us": None if now is None else to_micros(now, "now"),
    }
    versions: pd.DataFrame = computed(LICENSE_VERSIONS, inputs, as_="pandas", decimals="float", variables=variables)
    return versions


@suggesting
def instrument_supply(instruments: Any, *, decimals: Decimals | None = None) -> pd.DataFrame:
    """Track the total supply of instruments over the snapshots of a store.

    Each `store.sync(net, tables=["instruments"])` adds the registries' current values, so that a sync a day makes a
    series; `pd.concat` of several loads does as well.

    Args:
        instruments: the stored table (several snapshots), a `Store`, or the result of `load_instruments`, with
            `decimals="exact"`.
        decimals: how amounts are held: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as in the
            frame, else exact.

    Returns:
        One row per instrument and time at which its supply was computed, with the columns of
        `lf.describe("instrument_supply")`: instrument_admin, instrument_id, symbol, time, total_supply, change (since
        the time before; null for the first). Instruments without a supply are left out.

    Raises:
        InputError: columns are missing, or amounts are floats.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     supply = lf.instrument_supply(lf.load_instruments(net, decimals="exact"))
        >>> supply.columns.to_list()
        ['instrument_admin', 'instrument_id', 'symbol', 'time', 'total_supply', 'change']
    """
    inputs = inputs_of_snapshot(
        "instruments", instruments, "instrument_id", "symbol", "total_supply", "total_supply_as_of"
    )
    form: Decimals = decimals or inputs.attrs.get("decimals") or "exact"
    supply: pd.DataFrame = computed(INSTRUMENT_SUPPLY, inputs, as_="pandas", decimals=form)
    return supply
