"""`reassignment_flows` and tables derived from them: how contracts move between synchronizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import choice, duration, shown, suggesting
from ledgerframes.errors import InputError
from ledgerframes.frames import As, described
from ledgerframes.models.computing import computed
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs, columns_of, inputs_of_table, proof_of_stored, stored
from ledgerframes.models.signatures import table_function
from ledgerframes.paging.cursor import Bound, bound, last_before
from ledgerframes.tables.history import REASSIGNMENTS
from ledgerframes.tables.reassignments import (
    CONTRACT_JOURNEYS,
    FLOW_MATRIX,
    REASSIGNMENT_ANOMALIES,
    REASSIGNMENT_FLOWS,
)
from ledgerframes.tables.table import Table

#: Periods whose length varies.
_CALENDARS: Final = {
    **dict.fromkeys(("W", "week"), "week"),
    **dict.fromkeys(("M", "MS", "ME", "month"), "month"),
    **dict.fromkeys(("Q", "QS", "QE", "quarter"), "quarter"),
    **dict.fromkeys(("Y", "YS", "YE", "year"), "year"),
}
_UNITS: Final = {"D": "1D", "day": "1D", "h": "1h", "H": "1h", "1H": "1h", "min": "1min", "s": "1s"}


@table_function
def reassignment_flows(reassignments: Any, *, as_: As = "pandas") -> Any:
    """Join the two legs of every reassignment (contract: States and transitions, Contract reassignment).

    Two legs belong together if source synchronizer, unassign id, contract and counter agree, in whichever order and
    migrations they were recorded.

    Args:
        reassignments: legs of `load_reassignments`, a `History`, a `Store`, or a path of Parquet.
        as_: `"pandas"`, `"arrow"` or `"polars"`.

    Returns:
        One row per reassignment, by time, with the columns of `lf.describe("reassignment_flows")`: `status` is
        "completed", "in flight", "assigned without unassignment", or "repaired" (source and target are the same). A
        leg that is missing may lie beyond the range: `edge` says at which end, "start" or "end", and `attrs["edges"]`
        counts both, and those in flight at the end.

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> flows.status.value_counts().to_dict()
        {'completed': 4, 'in flight': 1}
        >>> flows.attrs["edges"]
        {'began_before': {'rows': 0}, 'open_at_end': {'rows': 1, 'in_flight': 1}}
    """
    return _of_flows(REASSIGNMENT_FLOWS, _legs(reassignments), as_=as_)


@suggesting
def flow_matrix(flows: Any, *, period: str | None = None, by: Literal["began", "assigned"] = "began") -> pd.DataFrame:
    """Count reassignments from each synchronizer to each other.

    Args:
        flows: the result of `reassignment_flows`, or what that takes.
        period: also count by period: "1h", "15min", "D" (day), "W" (week, from Monday), "MS" (month), "QS", "YS".
        by: what time counts: when the reassignment began (its unassignment, else its assignment), or ended.

    Returns:
        One row per pair that occurs: source_synchronizer, target_synchronizer, count, contracts (how many different
        ones), in_flight (how many of the count), and with `period=` a column `period`, its beginning in UTC.

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
    calendar = {} if period is None else {"by_period": True} | period_variables(period)
    matrix: pd.DataFrame = _of_flows(FLOW_MATRIX, _flows(flows), {"by_assigned": by == "assigned"} | calendar)
    return matrix if period is not None else matrix.drop(columns="period")


@suggesting
def contract_journeys(flows: Any) -> pd.DataFrame:
    """List the path of each reassigned contract over the synchronizers.

    Args:
        flows: the result of `reassignment_flows`, or what that takes.

    Returns:
        One row per contract, by id, with the columns of `lf.describe("contract_journeys")`: `path` holds the
        synchronizers in order of the counter, a tuple; None stands where steps are missing.

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     journeys = lf.contract_journeys(lf.reassignment_flows(lf.load_reassignments(net)))
        >>> int(journeys.reassignments.sum())
        5
    """
    journeys: pd.DataFrame = _of_flows(CONTRACT_JOURNEYS, _flows(flows))
    return journeys


@suggesting
def reassignment_anomalies(reassignments: Any) -> pd.DataFrame:
    """List anomalies that a sound ledger does not have, or that repairs leave behind (contract: reassignment_counter).

    An assignment whose unassignment may lie before the range is no anomaly; `attrs["edges"]` counts these.

    Args:
        reassignments: legs of `load_reassignments`, a `History`, a `Store`, or a path of Parquet.

    Returns:
        One row per finding, by time: anomaly, contract_id, unassign_id, reassignment_counter, update_id, record_time,
        detail. The anomalies: "counter not increasing" (an unassignment's counter is not above that of the
        contract's unassignment before on the same synchronizer, or another one of the contract has the same; record
        times are ordered per synchronizer only), "counter differs", "contract differs", "target differs" (between the
        legs of one unassign id), "assigned twice", "unassigned twice", "assigned without unassignment", "repaired"
        (source and target are the same).

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.reassignment_anomalies(lf.load_reassignments(net)).anomaly.to_list()
        []
    """
    anomalies: pd.DataFrame = _of_flows(REASSIGNMENT_ANOMALIES, _legs(reassignments))
    return anomalies


def period_variables(period: str) -> dict[str, Any]:
    """The variables of models for a period.

    Raises:
        InputError: it is not valid.
    """
    if period in _CALENDARS:
        return {"calendar": _CALENDARS[period]}
    try:
        return {"every_us": duration(_UNITS.get(period, period), "period", bare=False)}
    except InputError as error:
        raise InputError(
            f'period={shown(period)} is not a valid period; write for example "1h", "D", "W" or "MS"'
        ) from error


def legs_around(store: Any, *, start: Bound, end: Bound | None) -> pa.Table:
    """The legs of a store from which the flows and anomalies of a range are the same as from all legs up to its end.

    Their provenance has the `edges` of all reassignments up to there, as `reassignment_flows` counts them.

    Args:
        store: the store, in one state.
        start: where the range begins, a time.
        end: where it ends, exclusive.
    """
    proof = proof_of_stored(store, REASSIGNMENTS, end)

    def read() -> tuple[pa.Table, dict[str, Any]]:
        engine.set({"legs_from": bound(start, "start", up=True), "begun": _begun(proof)})
        rows = engine.rows("legs_around")
        return rows, _edges(engine, rows)

    with Engine({REASSIGNMENTS.name: stored(store, REASSIGNMENTS)}, until=last_before(end)) as engine:
        rows, edges = engine.interruptible(read, REASSIGNMENTS.name)
    schema = pa.schema([REASSIGNMENTS.schema.field(name) for name in rows.column_names])
    return described(rows.cast(schema), proof | {"rows": len(rows)} | edges)


def _legs(reassignments: Any) -> Inputs:
    return inputs_of_table(reassignments, REASSIGNMENTS)


def _flows(flows: Any) -> Inputs:
    """The caller's flows, or flows computed from legs."""
    if {"unassigned_at", "status"} & {*columns_of(flows)}:
        return inputs_of_table(flows, REASSIGNMENT_FLOWS)
    return _legs(flows)


def _of_flows(table: Table, inputs: Inputs, variables: Mapping[str, Any] | None = None, *, as_: As = "pandas") -> Any:
    notes = _edges if REASSIGNMENTS.name in inputs.gives else None
    settings = {"begun": _begun(inputs.attrs)} | dict(variables or {})
    return computed(table, inputs, as_=as_, decimals=None, variables=settings, notes=notes)


def _begun(attrs: Mapping[str, Any]) -> bool:
    """Whether the ledger began there; None: nothing shows whether it began earlier, as on one without a DSO."""
    return attrs.get("from_beginning", False) is not False


def _edges(engine: Engine, _: pa.Table) -> dict[str, Any]:
    """The number of reassignments with a leg that may lie beyond the range, by the end at which it is."""
    (edges,) = engine.rows("flow_edges").to_pylist()
    still = {"rows": edges["end"], "in_flight": edges["in_flight"]}
    return {"edges": {"began_before": {"rows": edges["start"]}, "open_at_end": still}}
