"""Which contracts are active at a moment and on which synchronizer, by replay of the history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_same_range, check_whole
from ledgerframes.arguments import text
from ledgerframes.frames import attrs_of, shape_like, to_arrow
from ledgerframes.paging.window import Bound, bound
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.kinds import BOOL
from ledgerframes.tables.table import Column, Table
from ledgerframes.timestamps import format_timestamp

_CONTRACT: Final = (
    "migration_id", "record_time", "contract_id", "template_id", "template_name", "package_name", "created_at",
    "signatories", "observers", "payload",
)  # fmt: skip
_EVENTS: Final = (*_CONTRACT, "synchronizer_id", "event_type", "consuming")
_COLUMNS: Final = (
    "contract_id", "template_id", "template_name", "package_name", "created_at", "signatories", "observers", "payload",
    "synchronizer_id", "source_synchronizer", "target_synchronizer", "reassignment_counter", "in_flight",
    "migration_id", "record_time",
)  # fmt: skip
_FEW: Final = 4
#: What an opening has to look like: the columns of events and reassignments that this module gives.
ACTIVE: Final = Table(
    "active_contracts", "One row an active contract.", (), ("contract_id",),
    (
        *(column for column in EVENTS.columns if column.name in _COLUMNS),
        *(
            column
            for column in REASSIGNMENTS.columns
            if column.name in {"source_synchronizer", "target_synchronizer", "reassignment_counter"}
        ),
        Column("in_flight", BOOL, "Whether the contract is on its way between synchronizers."),
    ),
)  # fmt: skip
_LEG_COLUMNS: Final = (*_CONTRACT, "kind", "source_synchronizer", "target_synchronizer", "reassignment_counter")


def active_contracts(
    events: Any, reassignments: Any, *, at: Bound | None = None, template: str | None = None, opening: Any = None
) -> Any:
    """Replay creates, consuming exercises and reassignments (contract: States and transitions).

    Args:
        events: events from `load_events` or a store, from ledger begin.
        reassignments: legs from the same source; None if no contract is reassigned.
        at: replay up to and including this time (in every migration) or pair (migration id, time); to the end of the
            frames by default.
        template: only contracts of this `Module:Entity`.
        opening: the contracts active before the frames begin, as this function or `load_active_contracts` returns
            them; or `"nothing"`.

    Returns:
        One row per active contract, in the order of creation, in the form of `events`: contract_id, template_id,
        template_name, package_name, created_at, signatories, observers, payload, synchronizer_id (null
        while in flight), source_synchronizer and target_synchronizer (only while in flight), reassignment_counter
        (0 at creation), in_flight, migration_id and record_time (of its creation, or of the assignment that showed it
        first).

    Raises:
        InputError: columns are missing, `at` is not valid, or the provenance of the two frames names different ranges.
        PartialResultError: the provenance of the frames does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     _, events, reassignments = lf.load_history(net)
        >>> active = lf.active_contracts(events, reassignments)
        >>> active.contract_id.is_unique, int(active.in_flight.sum())
        (True, 1)
    """
    if template is not None:
        text(template, "template", "Module:Entity, as the column template_name has it")
    placed, moment = replayed(
        events, reassignments, at=at, templates=None if template is None else (template,), opening=opening
    )
    return shape_like(placed, events, attrs=attrs_of(events) | {"at": _said(moment)})


def replayed(
    events: Any, reassignments: Any, *, at: Bound | None, templates: Sequence[str] | None, opening: Any
) -> tuple[pa.Table, Any]:
    """The active contracts of some templates, or of all, as Arrow, and the moment; see `active_contracts`.

    What `opening` holds of other templates stays.
    """
    check_whole(events, name="events", opening=opening)
    if reassignments is not None:
        check_whole(reassignments, name="reassignments", opening=opening)
    moment = bound(at, "at")
    check_same_range(events, reassignments, moment)
    rows = up_to(to_arrow(events, EVENTS, _EVENTS, name="events"), moment)
    # There is no archived event: a consuming exercise ends a contract, whatever its choice is called.
    ended = rows["contract_id"].filter(rows["consuming"])
    legs = None
    if reassignments is not None:
        legs = up_to(to_arrow(reassignments, REASSIGNMENTS, _LEG_COLUMNS, name="reassignments"), moment)
    created = _created(rows, ended, templates)
    known = _with_earlier(_with_assigned(created, legs, templates), opening)
    return _placed(_without_ended(known, created, ended), legs), moment


def up_to(rows: pa.Table, moment: Any) -> pa.Table:
    """The rows up to and including a moment: None, microseconds in every migration, or a cursor."""
    if moment is None:
        return rows
    if isinstance(moment, int):
        return rows.filter(pc.less_equal(rows["record_time"].cast(pa.int64()), moment))
    earlier = pc.less(rows["migration_id"], moment.migration_id)
    here = pc.equal(rows["migration_id"], moment.migration_id)
    return rows.filter(
        pc.or_(earlier, pc.and_(here, pc.less_equal(rows["record_time"].cast(pa.int64()), moment.micros)))
    )


def _created(rows: pa.Table, ended: pa.ChunkedArray, templates: Sequence[str] | None) -> pa.Table:
    """The first creation of each contract that has not ended; only these are copied, payloads and all."""
    creates = pc.equal(rows["event_type"], "created_event")
    if templates is not None:
        creates = pc.and_(creates, _is_of(rows, templates))
    # To look an id up is the larger part of all the work, so only those of creates are.
    ids = rows["contract_id"].filter(creates)
    if len(ids) < len(ended) // _FEW:
        ended = ended.filter(pc.is_in(ended, ids))  # a table of few ids is made sooner than one of many
    lasting = pc.invert(pc.is_in(ids, ended))
    alive = pc.replace_with_mask(creates.combine_chunks(), creates.combine_chunks(), lasting.combine_chunks())
    # One chunk per column, as later steps pick rows of it: few of many chunks are left.
    alive_rows = rows.drop_columns(["event_type", "consuming"]).filter(alive).combine_chunks()
    # Mostly every contract is created once; where one is not, its first create counts.
    if pc.count_distinct(alive_rows["contract_id"]).as_py() == alive_rows.num_rows:
        return alive_rows
    order = pc.sort_indices(alive_rows, sort_keys=[("migration_id", "ascending"), ("record_time", "ascending")])
    return _first_of_each(alive_rows.take(order), "contract_id")


def _is_of(rows: pa.Table, templates: Sequence[str]) -> pa.ChunkedArray:
    return pc.is_in(rows["template_name"], pa.array(templates, pa.string()))


def _without_ended(known: pa.Table, created: pa.Table, ended: pa.ChunkedArray) -> pa.Table:
    """The contracts that have not ended; of those that the events create none has."""
    others = pc.invert(pc.is_in(known["contract_id"], created["contract_id"]))
    if not pc.any(others).as_py():
        return known
    over = ended.filter(pc.is_in(ended, known["contract_id"].filter(others)))
    return known.filter(pc.invert(pc.is_in(known["contract_id"], over))) if len(over) else known


def _with_assigned(created: pa.Table, legs: pa.Table | None, templates: Sequence[str] | None) -> pa.Table:
    """Creates, and contracts that only an assignment shows: their create is not in the history of this network."""
    own = _at_rest(created, pa.array([0] * created.num_rows, pa.int64()))
    if legs is None:
        return own
    # A contract can appear first in an assignment: it was created where this history does not reach.
    first = pc.and_(
        pc.equal(legs["kind"], "assignment"), pc.invert(pc.is_in(legs["contract_id"], created["contract_id"]))
    )
    # At once, since every filter copies what it leaves.
    shown = legs.filter(first if templates is None else pc.and_(first, _is_of(legs, templates)))
    if not shown.num_rows:
        return own
    order = pc.sort_indices(shown, sort_keys=[("migration_id", "ascending"), ("record_time", "ascending")])
    shown = _first_of_each(shown.take(order), "contract_id")
    counters, target = shown["reassignment_counter"], shown["target_synchronizer"]
    shown = shown.select(_CONTRACT).append_column("synchronizer_id", target)
    return pa.concat_tables([own, _at_rest(shown, counters)])


def _at_rest(contracts: pa.Table, counters: Any) -> pa.Table:
    """Contracts that are where they are."""
    nothing = pa.nulls(contracts.num_rows, pa.string())
    columns = {"source_synchronizer": nothing, "target_synchronizer": nothing, "reassignment_counter": counters}
    kept = contracts.select([*_CONTRACT, "synchronizer_id"])
    for name, column in columns.items():
        kept = kept.append_column(name, column)
    return kept.append_column("in_flight", pa.array([False] * contracts.num_rows, pa.bool_())).select(_COLUMNS)


def _with_earlier(known: pa.Table, opening: Any) -> pa.Table:
    if opening is None or (isinstance(opening, str) and opening == "nothing"):
        return known
    before = to_arrow(opening, ACTIVE, _COLUMNS, name="opening")
    # a snapshot does not say where its contracts are: what the history says of the same ones is fuller
    bare = pc.and_(pc.is_null(before["reassignment_counter"]), pc.is_in(before["contract_id"], known["contract_id"]))
    before = before.filter(pc.invert(bare))
    fresh = known.filter(pc.invert(pc.is_in(known["contract_id"], before["contract_id"])))
    return pa.concat_tables([before, fresh])


def _placed(alive: pa.Table, legs: pa.Table | None) -> pa.Table:
    """Each contract with its latest position: its creation, or the leg with the highest counter."""
    rows = _moved(alive, legs) if legs is not None and legs.num_rows else alive
    # A snapshot lists its contracts in the order of creation without the times, so they stay as they are, first.
    untold = pc.is_null(rows["record_time"])
    told = rows.filter(pc.invert(untold)) if rows["record_time"].null_count else rows
    order = [(name, "ascending") for name in ("migration_id", "record_time", "contract_id")]
    told = told.combine_chunks()  # rows are picked from one chunk several times as fast as from many
    placed = told.take(pc.sort_indices(told, sort_keys=order))
    return pa.concat_tables([rows.filter(untold), placed]) if placed.num_rows < rows.num_rows else placed


def _moved(rows: pa.Table, legs: pa.Table) -> pa.Table:
    last = _last_legs(legs)
    numbered = rows.append_column("place", pa.array(range(rows.num_rows), pa.int64()))
    # Arrow's join cannot carry list columns, so only ids and positions go through it.
    ids = numbered.select(["contract_id", "place"])
    joined = ids.join(last, keys="contract_id", join_type="left outer").sort_by("place")
    # By counter and not by time: an assignment may be recorded before its unassignment.
    newer = pc.fill_null(pc.greater_equal(joined["counter"], pc.fill_null(rows["reassignment_counter"], -1)), False)  # noqa: FBT003
    away = pc.equal(joined["leg"], "unassignment")
    nothing = pa.scalar(None, pa.string())
    changed = {
        "synchronizer_id": pc.if_else(away, nothing, joined["target"]),
        "source_synchronizer": pc.if_else(away, joined["source"], nothing),
        "target_synchronizer": pc.if_else(away, joined["target"], nothing),
        "reassignment_counter": joined["counter"],
        "in_flight": away,
    }
    columns = [pc.if_else(newer, changed[name], rows[name]) if name in changed else rows[name] for name in _COLUMNS]
    return pa.table(dict(zip(_COLUMNS, columns, strict=True)))


def _last_legs(legs: pa.Table) -> pa.Table:
    """For each contract the leg with the highest counter; of two legs of one counter the assignment."""
    kept = pa.table(
        {
            "contract_id": legs["contract_id"],
            "leg": legs["kind"],
            "counter": legs["reassignment_counter"],
            "source": legs["source_synchronizer"],
            "target": legs["target_synchronizer"],
        }
    )
    # Of equal counters the assignment comes first, as the later step of the same reassignment.
    order = pc.sort_indices(kept, sort_keys=[("counter", "descending"), ("leg", "ascending")])
    return _first_of_each(kept.take(order), "contract_id")


def _first_of_each(rows: pa.Table, name: str) -> pa.Table:
    numbered = rows.select([name]).append_column("n", pa.array(range(rows.num_rows), pa.int64()))
    first = numbered.group_by(name).aggregate([("n", "min")])
    return rows.take(first["n_min"])


def _said(moment: Any) -> Any:
    if moment is None:
        return None
    return (
        format_timestamp(moment) if isinstance(moment, int) else [moment.migration_id, format_timestamp(moment.micros)]
    )
