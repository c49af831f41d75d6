"""Reassignments as flows between synchronizers: the two legs joined, counted, and listed contract by contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import choice, suggesting
from ledgerframes.errors import InputError
from ledgerframes.frames import shape_like, to_arrow, to_pandas
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
_LEG_COLUMNS: Final = (*KEY, "target_synchronizer", "record_time", "migration_id", "kind", "template_name")


@suggesting
def reassignment_flows(reassignments: Any) -> Any:
    """Join the two legs of every reassignment (contract: States and transitions, Contract reassignment).

    Two legs belong together if source synchronizer, unassign id, contract and counter agree, in whichever order and
    migrations they were recorded.

    Args:
        reassignments: legs from `load_reassignments` or a store; pandas, Arrow or polars.

    Returns:
        One row per reassignment, by time, in the form of `reassignments`: unassign_id, contract_id, template_name
        (known from the assignment), source_synchronizer, target_synchronizer, reassignment_counter, unassigned_at,
        assigned_at (null for a leg that is missing), in_flight (a duration; negative where the
        assignment was recorded first), status: "completed", "in flight", "assigned without unassignment", or
        "repaired" (source and target are the same).

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> flows.status.value_counts().to_dict()
        {'completed': 4, 'in flight': 1}
    """
    legs = to_arrow(reassignments, REASSIGNMENTS, _LEG_COLUMNS, name="reassignments").combine_chunks()
    return shape_like(_flows(legs, _paired(legs)), reassignments)


def _paired(legs: pa.Table) -> pa.Table:
    """The rows of each flow's legs, `away` and `back`, null for a leg that is missing.

    Legs that repeat a key are numbered in order of time, so that none is lost.
    """
    pairs = _grouped(legs, KEY)
    # Mostly no key repeats, and the numbering below has to go through pandas.
    if pc.sum(pairs["legs"]).as_py() == pc.sum(pairs["taken"]).as_py():
        return pairs.select(["away", "back"])
    order = pc.sort_indices(legs, sort_keys=[("migration_id", "ascending"), ("record_time", "ascending")])
    kept = [*KEY, "kind"]
    # `dropna=False`: an unassign id may be null, and pandas would leave such legs unnumbered.
    turns = legs.select(kept).take(order).to_pandas().groupby(kept, dropna=False).cumcount()
    turn = np.empty(legs.num_rows, np.int64)
    turn[order.to_numpy()] = turns.to_numpy()
    return _grouped(legs.append_column("turn", pa.array(turn)), (*KEY, "turn")).select(["away", "back"])


def _grouped(legs: pa.Table, key: Sequence[str]) -> pa.Table:
    """Rows by key: the first of each kind, and how many there are."""
    rows, missing = pa.array(np.arange(legs.num_rows)), pa.scalar(None, pa.int64())
    # Nulls, because the minimum of a group skips them: it is the row of the leg of that kind.
    arriving = pc.equal(legs["kind"], "assignment")
    places = {"away": pc.if_else(arriving, missing, rows), "back": pc.if_else(arriving, rows, missing)}
    source = legs["source_synchronizer"].dictionary_encode()  # few texts: numbers make the shorter key
    keys = {name: legs[name] for name in key} | {
        "source_synchronizer": pa.chunked_array([chunk.indices for chunk in source.chunks], pa.int32())
    }
    wanted = [("away", "min"), ("back", "min"), ("away", "count"), ("back", "count")]
    grouped = pa.table({**keys, **places}).group_by(list(key)).aggregate(wanted)
    away, back = grouped["away_min"], grouped["back_min"]
    taken_rows = pc.add(pc.is_valid(away).cast(pa.int64()), pc.is_valid(back).cast(pa.int64()))
    leg_count = pc.add(grouped["away_count"], grouped["back_count"])
    return pa.table({"away": away, "back": back, "legs": leg_count, "taken": taken_rows})


def _flows(legs: pa.Table, pairs: pa.Table) -> pa.Table:
    pairs = _by_time(legs, pairs)
    away, back = (legs["record_time"].take(pairs[name]) for name in ("away", "back"))
    # A flow of one leg takes its key from the leg that is there.
    both = legs.select([*KEY, "target_synchronizer"]).take(pc.coalesce(pairs["away"], pairs["back"]))
    there = pc.is_valid(away), pc.is_valid(back)
    repaired = pc.equal(both["source_synchronizer"], both["target_synchronizer"])
    status = pc.case_when(
        pc.make_struct(repaired, pc.and_(*there), there[0]), REPAIRED, COMPLETED, IN_FLIGHT, UNMATCHED
    )
    columns = {name: both[name] for name in both.column_names} | {
        # Only an assignment carries the contract; an unassignment has its id alone.
        "template_name": legs["template_name"].take(pairs["back"]),
        "unassigned_at": away,
        "assigned_at": back,
        "in_flight": pc.subtract(back.cast(pa.int64()), away.cast(pa.int64())).cast(pa.duration("us")),
        "status": status,
    }
    return pa.table({name: columns[name] for name in COLUMNS})


def _by_time(legs: pa.Table, pairs: pa.Table) -> pa.Table:
    """The pairs in order of the unassignment's time, else the assignment's, then of ids."""
    first = pc.coalesce(pairs["away"], pairs["back"])
    began = legs["record_time"].take(first)
    order = pc.sort_indices(began)
    ordered = began.take(order).cast(pa.int64()).to_numpy()
    # Ids are compared only where times repeat, since sorting texts is far slower.
    if not (ordered[1:] == ordered[:-1]).any():
        return pairs.take(order)
    ids = legs.select(["unassign_id", "contract_id"]).take(first).append_column("began", began)
    keys = [(name, "ascending") for name in ("began", "unassign_id", "contract_id")]
    return pairs.take(pc.sort_indices(ids, sort_keys=keys))


@suggesting
def flow_matrix(flows: Any, *, period: str | None = None, by: Literal["began", "assigned"] = "began") -> pd.DataFrame:
    """Count flows from each synchronizer to each other.

    Args:
        flows: the result of `reassignment_flows`.
        period: also count by period: "1h", "D" (day), "W" (week, from Monday), "MS" (month); any frequency of
            pandas.
        by: what time counts: when the reassignment began (its unassignment, else its assignment), or ended.

    Returns:
        One row per pair that occurs: source_synchronizer, target_synchronizer, count, contracts (how many different
        ones), in_flight (how many of the count), and with `period=` a column `period`, its beginning.

    Raises:
        InputError: columns are missing, or the period is not valid.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> int(lf.flow_matrix(flows)["count"].sum()) == len(flows)
        True
    """
    choice(by, "by", ("began", "assigned"))
    frame = _flows_frame(flows, ("source_synchronizer", "target_synchronizer", "contract_id", "status"))
    keys = ["source_synchronizer", "target_synchronizer"]
    if period is not None:
        times = _flows_frame(flows, ("unassigned_at", "assigned_at"))
        # A lone assignment is counted by its own time, or it would be missing from the matrix.
        moment = times["assigned_at"] if by == "assigned" else times["unassigned_at"].fillna(times["assigned_at"])
        frame = frame.assign(period=_period_begin(moment, period))
        keys = ["period", *keys]
    # `observed=True`: categorical columns would otherwise give a row for every pair that never occurred.
    grouped = frame.assign(away=frame["status"] == IN_FLIGHT).groupby(keys, observed=True, dropna=True)
    matrix = grouped.agg(
        count=("contract_id", "size"), contracts=("contract_id", "nunique"), in_flight=("away", "sum")
    ).reset_index()
    matrix.attrs.update(getattr(flows, "attrs", {}))
    # pandas does not carry attrs through a groupby.
    return matrix.astype(dict.fromkeys(("count", "contracts", "in_flight"), "int64"))


@suggesting
def contract_journeys(flows: Any) -> pd.DataFrame:
    """List the path of each reassigned contract over the synchronizers.

    Args:
        flows: the result of `reassignment_flows`.

    Returns:
        One row per contract: contract_id, template_name, reassignments (how many), path (the synchronizers in order of
        the counter, a tuple; None stands where steps are missing), began_at, ended_at (null while the last step is on
        its way), gaps (counters missing in between: steps outside the range).

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     journeys = lf.contract_journeys(lf.reassignment_flows(lf.load_reassignments(net)))
        >>> int(journeys.reassignments.sum())
        5
    """
    frame = _flows_frame(flows, COLUMNS)
    ordered = frame.sort_values(["contract_id", "reassignment_counter"], kind="stable", ignore_index=True)
    first = ~ordered.duplicated("contract_id")
    grouped = ordered.groupby("contract_id", sort=False)
    began = ordered["unassigned_at"].fillna(ordered["assigned_at"])
    last = ordered[~ordered.duplicated("contract_id", keep="last")]
    counters = grouped["reassignment_counter"].agg(["min", "max", "nunique"])
    journeys = pd.DataFrame(
        {
            "contract_id": ordered.loc[first, "contract_id"].to_numpy(),
            "template_name": grouped["template_name"].first().to_numpy(),
            "reassignments": grouped.size().to_numpy(),
            "path": _paths(ordered),
            "began_at": began[first].to_numpy(),
            "ended_at": last["assigned_at"].to_numpy(),
            "gaps": (counters["max"] - counters["min"] + 1 - counters["nunique"]).astype("int64").to_numpy(),
        }
    )
    for name in ("began_at", "ended_at"):
        # to_numpy() gives times with a zone as objects.
        journeys[name] = pd.to_datetime(journeys[name], utc=True).astype("datetime64[us, UTC]")
    journeys["contract_id"] = journeys["contract_id"].astype("str")
    journeys["template_name"] = journeys["template_name"].astype("str")
    journeys.attrs.update(getattr(flows, "attrs", {}))
    return journeys


def _paths(ordered: pd.DataFrame) -> list[tuple[str | None, ...]]:
    """The path of each contract; None where a counter is missing or a step begins elsewhere than the last ended."""
    paths: list[list[str | None]] = []
    contract, counter = None, 0
    names = ["contract_id", "reassignment_counter", "source_synchronizer", "target_synchronizer"]
    for step in ordered[names].itertuples(index=False, name=None):
        if not paths or step[0] != contract:
            paths.append([step[2]])
        elif step[2] != paths[-1][-1] or step[1] > counter + 1:
            paths[-1] += [None, step[2]]
        paths[-1].append(step[3])
        contract, counter = step[:2]
    return [tuple(path) for path in paths]


def _flows_frame(flows: Any, needed: tuple[str, ...]) -> pd.DataFrame:
    return to_pandas(flows, needed, name="flows", giver="lf.reassignment_flows")[list(needed)]


def _period_begin(moment: pd.Series, period: str) -> pd.Series:
    # Periods have no zone; pandas warns about dropping it unless it is dropped before.
    plain = moment.dt.tz_convert("UTC").dt.tz_localize(None)
    try:
        begun = plain.dt.to_period(_PERIODS.get(period, period)).dt.start_time
    except (ValueError, AttributeError) as error:
        raise InputError(
            f'period={period!r} is not a valid period; write for example "1h", "D", "W" or "MS"'
        ) from error
    return begun.dt.tz_localize("UTC").astype("datetime64[us, UTC]")


_PERIODS: Final = {"MS": "M", "ME": "M", "H": "h", "1H": "h", "1D": "D", "month": "M", "week": "W", "day": "D"}
