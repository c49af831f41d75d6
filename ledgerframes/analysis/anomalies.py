"""`reassignment_anomalies`: legs that do not match, and counters that do not increase."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from ledgerframes.arguments import suggesting
from ledgerframes.frames import shape_like, to_arrow
from ledgerframes.tables.history import REASSIGNMENTS

_NEEDED: Final = (
    "migration_id", "record_time", "update_id", "kind", "source_synchronizer", "target_synchronizer", "unassign_id",
    "reassignment_counter", "contract_id",
)  # fmt: skip
_PAIR: Final = ["source_synchronizer", "unassign_id"]


@suggesting
def reassignment_anomalies(reassignments: Any) -> pd.DataFrame:
    """List what does not occur on a sound ledger, and what repairs leave behind (contract: reassignment_counter).

    Args:
        reassignments: legs from `load_reassignments` or a store.

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
    legs = shape_like(to_arrow(reassignments, REASSIGNMENTS, _NEEDED, name="reassignments"), pd.DataFrame())
    legs = legs.sort_values(["migration_id", "record_time", "update_id"], kind="stable", ignore_index=True)
    away = legs[legs["kind"] == "unassignment"]
    back = legs[legs["kind"] == "assignment"]
    anomalies = [
        _standing_counters(away),
        *_unequal_legs(away, back),
        _said(away[away.duplicated(_PAIR)], "unassigned twice", "the unassign id was used before"),
        _said(back[back.duplicated(_PAIR)], "assigned twice", "the unassign id was assigned before"),
        _unmatched(away, back),
        _said(
            legs[legs["source_synchronizer"] == legs["target_synchronizer"]], "repaired",
            "source and target are the same",
        ),
    ]  # fmt: skip
    rows = pd.concat(anomalies).sort_values(
        ["migration_id", "record_time", "update_id"], kind="stable", ignore_index=True
    )
    return rows[["anomaly", "contract_id", "unassign_id", "reassignment_counter", "update_id", "record_time", "detail"]]


def _standing_counters(away: pd.DataFrame) -> pd.DataFrame:
    # By synchronizer too, since only there are record times in the order in which things happened.
    before = away.groupby(["contract_id", "source_synchronizer"])["reassignment_counter"].shift()
    standing = before.notna() & (away["reassignment_counter"] <= before)
    again = away.duplicated(["contract_id", "reassignment_counter"])
    said = ("the one before was " + before.astype("str")).where(standing, "another unassignment has the same")
    wrong = standing | again
    return _said(away[wrong], "counter not increasing", said[wrong])


def _unequal_legs(away: pd.DataFrame, back: pd.DataFrame) -> list[pd.DataFrame]:
    """Assignments whose unassignment holds another value."""
    names = ["contract_id", "reassignment_counter", "target_synchronizer"]
    # A null id pairs with nothing, but pandas would merge nulls with each other.
    first = away[away["unassign_id"].notna()].drop_duplicates(_PAIR)[[*_PAIR, *names]]
    both = back.merge(first, on=_PAIR, how="inner", suffixes=("", "_away"))
    parts = []
    for name, what in zip(names, ("contract differs", "counter differs", "target differs"), strict=True):
        unequal = both[both[name] != both[f"{name}_away"]]
        parts.append(_said(unequal, what, "the unassignment says " + unequal[f"{name}_away"].astype("str")))
    return parts


def _unmatched(away: pd.DataFrame, back: pd.DataFrame) -> pd.DataFrame:
    known = pd.MultiIndex.from_frame(away[_PAIR])
    alone = back[~pd.MultiIndex.from_frame(back[_PAIR]).isin(known) | back["unassign_id"].isna()]
    return _said(alone, "assigned without unassignment", "its unassignment is not in this range")


def _said(rows: pd.DataFrame, anomaly: str, detail: Any) -> pd.DataFrame:
    return rows.assign(anomaly=anomaly, detail=detail)
