"""Reassignments as flows between synchronizers: the two halves joined, counted and followed contract by contract."""

from __future__ import annotations

from typing import Any, Final, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.frames import given_back, taken
from ledgerframes.errors import InputError
from ledgerframes.tables.history import REASSIGNMENTS

KEY: Final = ("source_synchronizer", "unassign_id", "contract_id", "reassignment_counter")
COMPLETED: Final = "completed"
IN_FLIGHT: Final = "in flight"
UNMATCHED: Final = "assigned without unassignment"
REPAIRED: Final = "repaired"

COLUMNS: Final = (
    "unassign_id", "contract_id", "template_name", "source_synchronizer", "target_synchronizer",
    "reassignment_counter", "unassigned_at", "assigned_at", "in_flight", "status",
)  # fmt: skip
_HALF: Final = (*KEY, "target_synchronizer", "record_time", "migration_id", "kind", "template_name")
_JOINED: Final = (*KEY, "told")


def reassignment_flows(reassignments: Any) -> Any:
    """Join the halves of every reassignment (contract: States and transitions, Contract reassignment).

    The halves belong together by source synchronizer, unassign id, contract and counter, whichever comes first and in
    whichever migration each lies.

    Args:
        reassignments: as `load_reassignments` or a store gives it; pandas, Arrow or polars.

    Returns:
        One row a reassignment, by time, in the form that came in: unassign_id, contract_id, template_name (known
        from the assignment), source_synchronizer, target_synchronizer, reassignment_counter, unassigned_at,
        assigned_at (null for a half that is not there), in_flight (how long it was on its way; below zero where the
        assignment was recorded first), status: "completed", "in flight", "assigned without unassignment", or
        "repaired" (source and target are the same).

    Raises:
        InputError: columns are missing.
    """
    halves = taken(reassignments, REASSIGNMENTS, _HALF, name="reassignments")
    told = pc.is_valid(halves["unassign_id"]).cast(pa.int8())  # in a join, null is not equal to null
    halves = halves.set_column(1, "unassign_id", pc.fill_null(halves["unassign_id"], "")).append_column("told", told)
    away = _numbered(halves, "unassignment", "unassigned_at")
    back = _numbered(halves, "assignment", "assigned_at")
    joined = away.join(
        back,
        keys=[*_JOINED, "turn"],
        join_type="full outer",
        left_suffix="_away",
        right_suffix="_back",
        coalesce_keys=True,
    )
    return given_back(_flows(joined), reassignments)


def _numbered(halves: pa.Table, kind: str, time: str) -> pa.Table:
    """The halves of a kind; halves that repeat a key get a turn each, in order of time."""
    chosen = halves.filter(pc.equal(halves["kind"], kind))
    kept = chosen.select([*_JOINED, "target_synchronizer", "template_name"]).append_column(time, chosen["record_time"])
    distinct = kept.group_by(list(_JOINED)).aggregate([]).num_rows
    if distinct == kept.num_rows:
        return kept.append_column("turn", pa.array([0] * kept.num_rows, pa.int64()))
    order = pc.sort_indices(chosen, sort_keys=[("migration_id", "ascending"), ("record_time", "ascending")])
    kept = kept.take(order)
    turns = kept.select(_JOINED).to_pandas().groupby(list(_JOINED), dropna=False).cumcount()
    return kept.append_column("turn", pa.array(turns, pa.int64()))


def _flows(joined: pa.Table) -> pa.Table:
    away, back = joined["unassigned_at"], joined["assigned_at"]
    target = pc.coalesce(joined["target_synchronizer_away"], joined["target_synchronizer_back"])
    there = pc.is_valid(away), pc.is_valid(back)
    status = pc.case_when(
        pc.make_struct(pc.equal(joined["source_synchronizer"], target), pc.and_(*there), there[0]),
        REPAIRED, COMPLETED, IN_FLIGHT, UNMATCHED,
    )  # fmt: skip
    unassign_id = joined["unassign_id"]
    columns = {
        "unassign_id": pc.if_else(pc.equal(joined["told"], 1), unassign_id, pa.scalar(None, pa.string())),
        "contract_id": joined["contract_id"],
        "template_name": pc.coalesce(joined["template_name_back"], joined["template_name_away"]),
        "source_synchronizer": joined["source_synchronizer"],
        "target_synchronizer": target,
        "reassignment_counter": joined["reassignment_counter"],
        "unassigned_at": away,
        "assigned_at": back,
        "in_flight": pc.subtract(back.cast(pa.int64()), away.cast(pa.int64())).cast(pa.duration("us")),
        "status": status,
    }
    found = pa.table({name: columns[name] for name in COLUMNS})
    by = found.append_column("began", pc.coalesce(away, back))
    order = pc.sort_indices(by, sort_keys=[(name, "ascending") for name in ("began", "unassign_id", "contract_id")])
    return found.take(order)


def flow_matrix(flows: Any, *, period: str | None = None, by: Literal["began", "assigned"] = "began") -> pd.DataFrame:
    """Count flows from each synchronizer to each other.

    Args:
        flows: as `reassignment_flows` gives them.
        period: also by stretches of time: "1h", "D" (day), "W" (week, from Monday), "MS" (month); any frequency of
            pandas.
        by: what time counts: when the reassignment began (its unassignment, else its assignment), or ended.

    Returns:
        One row a pair that occurs: source_synchronizer, target_synchronizer, count, contracts (how many different
        ones), in_flight (how many of the count), and with a period its beginning, `period`.

    Raises:
        InputError: columns are missing, or the period is none.
    """
    frame = _pandas(flows, ("source_synchronizer", "target_synchronizer", "contract_id", "status"))
    keys = ["source_synchronizer", "target_synchronizer"]
    if period is not None:
        times = _pandas(flows, ("unassigned_at", "assigned_at"))
        moment = times["assigned_at"] if by == "assigned" else times["unassigned_at"].fillna(times["assigned_at"])
        frame = frame.assign(period=_floored(moment, period))
        keys = ["period", *keys]
    grouped = frame.assign(away=frame["status"] == IN_FLIGHT).groupby(keys, observed=True, dropna=True)
    found = grouped.agg(
        count=("contract_id", "size"), contracts=("contract_id", "nunique"), in_flight=("away", "sum")
    ).reset_index()
    found.attrs.update(getattr(flows, "attrs", {}))
    return found.astype(dict.fromkeys(("count", "contracts", "in_flight"), "int64"))


def contract_journeys(flows: Any) -> pd.DataFrame:
    """Follow each reassigned contract over the synchronizers.

    Args:
        flows: as `reassignment_flows` gives them.

    Returns:
        One row a contract: contract_id, template_name, reassignments (how many), path (the synchronizers in order of
        the counter, a tuple), began_at, ended_at (null while the last step is on its way), gaps (counters missing in
        between: steps outside the range).

    Raises:
        InputError: columns are missing.
    """
    frame = _pandas(flows, COLUMNS)
    ordered = frame.sort_values(["contract_id", "reassignment_counter"], kind="stable", ignore_index=True)
    first = ~ordered.duplicated("contract_id")
    grouped = ordered.groupby("contract_id", sort=False)
    targets = grouped["target_synchronizer"].agg(tuple)
    began = ordered["unassigned_at"].fillna(ordered["assigned_at"])
    last = ordered[~ordered.duplicated("contract_id", keep="last")]
    counters = grouped["reassignment_counter"].agg(["min", "max", "nunique"])
    sources = ordered.loc[first, "source_synchronizer"]
    found = pd.DataFrame(
        {
            "contract_id": ordered.loc[first, "contract_id"].to_numpy(),
            "template_name": grouped["template_name"].first().to_numpy(),
            "reassignments": grouped.size().to_numpy(),
            "path": [(source, *rest) for source, rest in zip(sources, targets, strict=True)],
            "began_at": began[first].to_numpy(),
            "ended_at": last["assigned_at"].to_numpy(),
            "gaps": (counters["max"] - counters["min"] + 1 - counters["nunique"]).astype("int64").to_numpy(),
        }
    )
    for name in ("began_at", "ended_at"):
        found[name] = pd.to_datetime(found[name], utc=True).astype("datetime64[us, UTC]")
    found["contract_id"] = found["contract_id"].astype("str")
    found["template_name"] = found["template_name"].astype("str")
    found.attrs.update(getattr(flows, "attrs", {}))
    return found


def _pandas(flows: Any, needed: tuple[str, ...]) -> pd.DataFrame:
    frame = flows.to_pandas() if isinstance(flows, pa.Table) or hasattr(flows, "to_arrow") else flows
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"flows is {type(flows).__name__}, not a frame; lf.reassignment_flows gives one")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InputError(f"flows has no column(s) {', '.join(missing)}; lf.reassignment_flows gives them")
    return frame[list(needed)]


def _floored(moment: pd.Series, period: str) -> pd.Series:
    plain = moment.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        begun = plain.dt.to_period(_PERIODS.get(period, period)).dt.start_time
    except (ValueError, AttributeError) as error:
        raise InputError(f'period={period!r} is none; write for example "1h", "D", "W" or "MS"') from error
    return begun.dt.tz_localize("UTC").astype("datetime64[us, UTC]")


_PERIODS: Final = {"MS": "M", "ME": "M", "H": "h", "1H": "h", "1D": "D", "month": "M", "week": "W", "day": "D"}
