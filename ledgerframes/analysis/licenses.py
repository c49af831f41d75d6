"""Validator licenses and instruments over time: growth, activity, versions, missed coupons, supply."""

from __future__ import annotations

from datetime import timedelta
from decimal import Context, Decimal
from typing import Any, Final

import pandas as pd

from ledgerframes.analysis.license_starts import Starts, by_first_license, by_rounds
from ledgerframes.arguments import duration, suggesting
from ledgerframes.errors import InputError
from ledgerframes.frames import to_pandas
from ledgerframes.paging.window import When
from ledgerframes.timestamps import EPOCH, MICROSECOND, to_micros

#: 38 digits either side of the point, and a carry.
_EXACT: Final = Context(prec=80)


@suggesting
def license_growth(licenses: Any, *, rounds: Any = None, period: str = "D") -> pd.DataFrame:
    """Count validators by when each began.

    A license contract is made anew at every change, so its `created_at` is not when the validator began. Its first
    round is, and the times of rounds date it; or the whole history shows each validator's first license.

    Args:
        licenses: one load of licenses or snapshots of a store, which need `rounds`; or the events of a whole history.
        rounds: with licenses: a frame of known rounds, columns round and opens_at. A first round between two known
            ones is placed on the straight line between them; one outside them is refused, because rounds do not last
            equally long.
        period: "h", "D", "W" or "MS".

    Returns:
        One row per period, including those without a new validator: time (its beginning), new, validators (so far).
        `attrs` hold what the times are based on (`basis`), how many are interpolated, and how many validators never
        received a coupon and so are left out (`never_received`).

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
    frame = _licenses(licenses)
    starts = _starts(licenses, frame, rounds)
    growth = _counted(starts.times, period)
    growth.attrs.update(frame.attrs | dict(starts.attrs))
    return growth


def _starts(licenses: Any, frame: pd.DataFrame, rounds: Any) -> Starts:
    if "event_type" in frame.columns:
        if rounds is not None:
            raise InputError("rounds= is for licenses; events tell themselves when each license was created")
        return by_first_license(licenses)
    to_pandas(licenses, ("validator", "first_round"), name="licenses", giver="lf.load_licenses")
    if rounds is None and len(frame):
        raise InputError(
            f"rounds= is needed to date the first rounds of {frame['validator'].nunique():,} validators (a license's"
            " created_at is only its last change); give a frame of round and opens_at, or give the events of the"
            " whole history in place of licenses"
        )
    if rounds is None:
        return by_rounds(frame, pd.DataFrame({"round": [], "opens_at": []}))
    return by_rounds(frame, to_pandas(rounds, name="rounds", giver="pd.DataFrame({'round': [...], 'opens_at': [...]})"))


def _counted(times: pd.Series, period: str) -> pd.DataFrame:
    plain = times.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        counted = plain.dt.to_period(_PERIODS.get(period, period)).value_counts()
    except (ValueError, AttributeError) as error:
        raise InputError(f'period={period!r} is not valid: write "h", "D", "W" or "MS"') from error
    if not len(times):
        nothing = {"time": pd.Series(dtype="datetime64[us, UTC]"), "new": [], "validators": []}
        return pd.DataFrame(nothing).astype({"new": "int64", "validators": "int64"})
    # Periods without a new validator belong into the result, so that the line of a picture is not drawn over them.
    every = pd.period_range(counted.index.min(), counted.index.max(), freq=counted.index.freq)
    new = counted.reindex(every, fill_value=0).astype("int64")
    begins = pd.Series(every.start_time).dt.tz_localize("UTC").astype("datetime64[us, UTC]")
    return pd.DataFrame({"time": begins, "new": new.to_numpy(), "validators": new.cumsum().to_numpy()})


_PERIODS: Final = {"MS": "M", "ME": "M", "H": "h"}


@suggesting
def license_activity(licenses: Any, *, now: When | None = None, within: str | timedelta = "1d") -> pd.DataFrame:
    """List which validators were active recently, and how many coupons they missed.

    Args:
        licenses: the result of `load_licenses`, or a stored table.
        now: the time to count back from; by default the latest activity in the frame.
        within: how long ago still counts as active.

    Returns:
        One row per validator, those never active first, then by how long ago: validator, sponsor,
        version, last_active_at, silent_for and active (both null for one never active), coupons_missed.

    Raises:
        InputError: columns are missing, or an argument is not a time.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     activity = lf.license_activity(lf.load_licenses(net), within="1h")
        >>> activity.validator.is_unique
        True
    """
    frame = _newest(_licenses(licenses, "validator", "sponsor", "version", "last_active_at", "coupons_missed"))
    silent = _moment(frame, now) - frame["last_active_at"]
    limit = pd.Timedelta(duration(within, "within"), unit="us")
    # A comparison with a missing time is False in pandas, and "unknown" is not "inactive".
    active = (silent <= limit).astype("boolean").mask(silent.isna())
    activity = frame[["validator", "sponsor", "version", "last_active_at"]].assign(
        silent_for=silent, active=active, coupons_missed=frame["coupons_missed"]
    )
    return activity.sort_values(
        ["silent_for", "validator"], ascending=[False, True], na_position="first", ignore_index=True
    )


@suggesting
def license_versions(
    licenses: Any, *, active_within: str | timedelta | None = None, now: When | None = None
) -> pd.DataFrame:
    """Count validators by the version they run.

    Args:
        licenses: the result of `load_licenses`, or a stored table.
        active_within: only validators that were active within this long before `now`; all by default, among them
            those that stopped long ago.
        now: the time to count back from; by default the latest activity in the frame.

    Returns:
        One row per version, the most frequent first: version (null where it is not known), validators, share (0 to 1,
        of those counted).

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
    frame = _newest(_licenses(licenses, *needed))
    if active_within is not None:
        limit = pd.Timedelta(duration(active_within, "active_within"), unit="us")
        frame = frame[_moment(frame, now) - frame["last_active_at"] <= limit]
    elif now is not None:
        raise InputError(f"now={now!r} needs active_within=: without it all validators count")
    # A license without a version is a validator all the same.
    counts = frame["version"].value_counts(dropna=False, sort=False)
    versions = pd.DataFrame({"version": counts.index.astype("str"), "validators": counts.to_numpy("int64")})
    versions["version"] = versions["version"].where(pd.Series(counts.index).notna().to_numpy())
    versions["share"] = versions["validators"] / max(len(frame), 1)
    return versions.sort_values(["validators", "version"], ascending=[False, True], ignore_index=True)


def _moment(frame: pd.DataFrame, now: When | None) -> Any:
    """The time to count back from."""
    if now is None:
        # Not this machine's clock: a snapshot that was loaded long ago would show everyone as inactive.
        return frame["last_active_at"].max()
    return pd.Timestamp(EPOCH + to_micros(now, "now") * MICROSECOND)


@suggesting
def supply_over_time(instruments: Any) -> pd.DataFrame:
    """Track the total supply of instruments over the snapshots of a store.

    Args:
        instruments: the stored table (several snapshots), or the result of `load_instruments`.

    Returns:
        One row per instrument and time at which its supply was computed: instrument_id, symbol, time, total_supply,
        change (since the time before; null for the first). Instruments without a supply are left out.

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     supply = lf.supply_over_time(lf.load_instruments(net, decimals="exact"))
        >>> supply.columns.to_list()
        ['instrument_id', 'symbol', 'time', 'total_supply', 'change']
    """
    needed = ("instrument_id", "symbol", "total_supply", "total_supply_as_of")
    frame = to_pandas(instruments, needed, name="instruments", giver="lf.load_instruments", exact=["total_supply"])
    time = frame["total_supply_as_of"]
    if "loaded_at" in frame.columns:
        # Registries may leave the time of the supply out.
        time = time.fillna(frame["loaded_at"])
    supply = frame.assign(time=time)
    supply = supply[supply["total_supply"].notna()].drop_duplicates(["instrument_id", "time"], keep="last")
    supply = supply.sort_values(["instrument_id", "time"], kind="stable", ignore_index=True)
    before = supply.groupby("instrument_id")["total_supply"].shift()
    change = [
        None if old is None or old is pd.NA or old != old else _difference(new, old)
        for old, new in zip(before, supply["total_supply"], strict=True)
    ]
    return supply[["instrument_id", "symbol", "time", "total_supply"]].assign(change=pd.Series(change, dtype=object))


def _difference(new: Any, old: Any) -> Any:
    """The exact difference; Python's own context would round it to 28 digits."""
    if not isinstance(new, Decimal) or not isinstance(old, Decimal):
        return new - old
    # The default context rounds to 28 digits.
    return _EXACT.subtract(new, old) or Decimal(0)


def _newest(frame: pd.DataFrame) -> pd.DataFrame:
    """The latest row of each validator, where there are several snapshots."""
    if "loaded_at" not in frame.columns:
        return frame.reset_index(drop=True)
    # Stable, so that of two snapshots of one time the one stored last counts.
    ordered = frame.sort_values("loaded_at", kind="stable")
    return ordered.drop_duplicates("validator", keep="last").reset_index(drop=True)


def _licenses(licenses: Any, *needed: str) -> pd.DataFrame:
    return to_pandas(licenses, needed, name="licenses", giver="lf.load_licenses")
