"""Validator licenses and instruments over time: growth, activity, versions, missed coupons, supply."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import duration
from ledgerframes.errors import InputError
from ledgerframes.instants import EPOCH, MICROSECOND, to_micros
from ledgerframes.paging.window import When

_LICENSE: Final = "Splice.ValidatorLicense:ValidatorLicense"


def license_growth(licenses: Any, *, period: str = "D") -> pd.DataFrame:
    """Count validators by when each first appeared.

    A license contract is made anew at every change, so one load of licenses knows only the latest contract of each
    validator; the history, or snapshots of a store, know when it began.

    Args:
        licenses: events of the history (its license creates count), snapshots of a store, or one load of licenses.
        period: "h", "D", "W" or "MS".

    Returns:
        One row a period, those without a newcomer included: time (its beginning), new, validators (so far).

    Raises:
        InputError: columns are missing, or the period is none.
    """
    first = _first_seen(_frame(licenses))
    if not len(first):
        return pd.DataFrame({"time": pd.Series(dtype="datetime64[us, UTC]"), "new": [], "validators": []}).astype(
            {"new": "int64", "validators": "int64"}
        )
    try:
        counted = (
            first.dt.tz_convert("UTC").dt.tz_localize(None).dt.to_period(_PERIODS.get(period, period)).value_counts()
        )
    except (ValueError, AttributeError) as error:
        raise InputError(f'period={period!r} is none; write "h", "D", "W" or "MS"') from error
    every = pd.period_range(counted.index.min(), counted.index.max(), freq=counted.index.freq)
    new = counted.reindex(every, fill_value=0).astype("int64")
    times = pd.Series(every.start_time).dt.tz_localize("UTC").astype("datetime64[us, UTC]")
    return pd.DataFrame({"time": times, "new": new.to_numpy(), "validators": new.cumsum().to_numpy()})


_PERIODS: Final = {"MS": "M", "ME": "M", "H": "h"}


def _first_seen(frame: pd.DataFrame) -> pd.Series:
    """When each validator first appeared."""
    if "event_type" in frame.columns:
        from ledgerframes.analysis.expanding import expand

        made = frame[(frame["event_type"] == "created_event") & (frame["template_name"] == _LICENSE)]
        if not len(made):
            return pd.Series(dtype="datetime64[us, UTC]")
        return expand(made, template=_LICENSE, fields=["validator"]).groupby("validator")["record_time"].min()
    times = [name for name in ("created_at", "loaded_at") if name in frame.columns]
    _need(frame, ("validator", "created_at"))
    return frame.groupby("validator")[times].min().min(axis=1)


def license_activity(licenses: Any, *, now: When | None = None, within: str | timedelta = "1d") -> pd.DataFrame:
    """Tell which validators were active lately, and which rounds they missed.

    Args:
        licenses: as `load_licenses` gives it.
        now: the moment to look from; by default the latest activity in the frame.
        within: how long ago still counts as active.

    Returns:
        One row a validator, the longest silent first: validator, sponsor, version, last_active_at, silent_for,
        active, coupons_missed.

    Raises:
        InputError: columns are missing, or an argument is no time.
    """
    frame = _newest(_frame(licenses))
    _need(frame, ("validator", "sponsor", "version", "last_active_at", "coupons_missed"))
    latest = frame["last_active_at"].max()
    moment = latest if now is None else pd.Timestamp(EPOCH + to_micros(now, "now") * MICROSECOND)
    silent = moment - frame["last_active_at"]
    limit = pd.Timedelta(duration(within, "within"), unit="us")
    found = frame[["validator", "sponsor", "version", "last_active_at"]].assign(
        silent_for=silent, active=(silent <= limit).astype("boolean"), coupons_missed=frame["coupons_missed"]
    )
    return found.sort_values(["silent_for", "validator"], ascending=[False, True], ignore_index=True)


def license_versions(licenses: Any) -> pd.DataFrame:
    """Count validators by the version they run.

    Args:
        licenses: as `load_licenses` gives it.

    Returns:
        One row a version, the most frequent first: version (null where none is told), validators, share (0 to 1).

    Raises:
        InputError: columns are missing.
    """
    frame = _newest(_frame(licenses))
    _need(frame, ("validator", "version"))
    counts = frame["version"].value_counts(dropna=False, sort=False)
    found = pd.DataFrame({"version": counts.index.astype("str"), "validators": counts.to_numpy("int64")})
    found["version"] = found["version"].where(pd.Series(counts.index).notna().to_numpy())
    found["share"] = found["validators"] / max(len(frame), 1)
    return found.sort_values(["validators", "version"], ascending=[False, True], ignore_index=True)


def supply_over_time(instruments: Any) -> pd.DataFrame:
    """Follow the total supply of instruments over a store's snapshots.

    Args:
        instruments: as a store gives it (several snapshots), or one load.

    Returns:
        One row an instrument and time at which its supply was computed: instrument_id, symbol, time, total_supply,
        change (since the time before; null for the first). Instruments without a supply are left out.

    Raises:
        InputError: columns are missing.
    """
    frame = _frame(instruments)
    _need(frame, ("instrument_id", "symbol", "total_supply", "total_supply_as_of"))
    loaded = frame["loaded_at"] if "loaded_at" in frame.columns else pd.Series(pd.NaT, index=frame.index)
    told = frame.assign(time=frame["total_supply_as_of"].fillna(loaded))
    told = told[told["total_supply"].notna()].drop_duplicates(["instrument_id", "time"], keep="last")
    told = told.sort_values(["instrument_id", "time"], kind="stable", ignore_index=True)
    before = told.groupby("instrument_id")["total_supply"].shift()
    change = [
        None if old is None or old is pd.NA or old != old else new - old
        for old, new in zip(before, told["total_supply"], strict=True)
    ]
    return told[["instrument_id", "symbol", "time", "total_supply"]].assign(change=pd.Series(change, dtype=object))


def _newest(frame: pd.DataFrame) -> pd.DataFrame:
    """The latest row of each validator, where there are several snapshots."""
    if "loaded_at" not in frame.columns:
        return frame.reset_index(drop=True)
    ordered = frame.sort_values("loaded_at", kind="stable")
    return ordered.drop_duplicates("validator", keep="last").reset_index(drop=True)


def _frame(data: Any) -> pd.DataFrame:
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, pa.Table):
        from ledgerframes.analysis.frames import given_back

        frame: pd.DataFrame = given_back(data, pd.DataFrame())
        return frame
    if hasattr(data, "to_arrow"):
        return _frame(data.to_arrow())
    raise InputError(f"{type(data).__name__} is not a frame; lf.load_licenses and lf.load_instruments give one")


def _need(frame: pd.DataFrame, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(f"the frame has no column(s) {', '.join(missing)}; lf.load_licenses or a store gives them")
