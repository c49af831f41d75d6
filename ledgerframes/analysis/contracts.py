"""Which contracts are active at a moment and on which synchronizer, by replay of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.acero import Declaration, FilterNodeOptions, HashJoinNodeOptions, TableSourceNodeOptions

from ledgerframes.analysis.coverage import check_same_range, check_whole
from ledgerframes.arguments import suggesting, text
from ledgerframes.frames import attrs_of, described, shape_like, to_arrow
from ledgerframes.loaders.opening import Opening, end_of, proof
from ledgerframes.paging.cursor import Cursor
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


@suggesting
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
        opening: the contracts active before the frames begin: an `Opening` of `load_opening`, a frame that this
            function or `load_active_contracts` returned, or `"nothing"`.

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
    attrs = attrs_of(events)
    end = _end(to_arrow(events, EVENTS, ("migration_id", "record_time"), name="events"), moment, attrs)
    cursor = {} if end is None else {"cursor": [end.migration_id, format_timestamp(end.micros)]}
    said = proof(placed, templates=None if template is None else (template,), parties=None)
    attrs |= {"at": _said(moment), **cursor, **said}
    if isinstance(events, pa.Table):
        return described(placed, attrs)
    return shape_like(placed, events, attrs=attrs)


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
    legs = REASSIGNMENTS.schema.empty_table() if reassignments is None else reassignments
    legs = up_to(to_arrow(legs, REASSIGNMENTS, _LEG_COLUMNS, name="reassignments"), moment)
    before = opening.contracts if isinstance(opening, Opening) else opening
    before = ACTIVE.schema.empty_table() if before is None or isinstance(before, str) else before
    before = to_arrow(before, ACTIVE, _COLUMNS, name="opening")
    shown = [pc.equal(rows["event_type"], "created_event"), pc.equal(legs["kind"], "assignment")]
    if templates is not None:
        shown = [pc.and_(mask, _is_of(table, templates)) for mask, table in zip(shown, (rows, legs), strict=True)]
    ids = [table["contract_id"] for table in (rows, legs, before)]
    creates, assignments, earlier = _lasting(ids, [*shown, pa.repeat(pa.scalar(value=True), before.num_rows)], rows)
    known = _with_assigned(_created(rows, creates), legs, assignments)
    return _placed(_with_earlier(known, before.filter(earlier)), legs), moment


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


def _lasting(ids: list[pa.ChunkedArray], shown: list[Any], rows: pa.Table) -> list[pa.Array]:
    """Which of the rows that show a contract show one that has not ended, for each of some columns of ids."""
    tables = [pa.table({"contract_id": own, "shown": mask}) for own, mask in zip(ids, shown, strict=True)]
    asked = pa.concat_tables(tables)
    # To look ids up is the larger part of all the work. A join, unlike `is_in`, does it on all cores; it makes a table
    # of its right side, so that is the smaller one.
    few = (pc.sum(asked["shown"]).as_py() or 0) < (pc.sum(rows["consuming"]).as_py() or 0)
    asked = _where(asked.append_column("place", pa.array(np.arange(len(asked)))), "shown")
    # There is no archived event: a consuming exercise ends a contract, whatever its choice is called.
    ended = _where(rows.select(["contract_id", "consuming"]), "consuming")
    keys, place = ["contract_id"], ["place"]
    if few:
        join = HashJoinNodeOptions("right anti", keys, keys, left_output=[], right_output=place)
    else:
        join = HashJoinNodeOptions("left anti", keys, keys, left_output=place, right_output=[])
    places = Declaration("hashjoin", join, [ended, asked] if few else [asked, ended]).to_table()["place"]
    lasting = np.zeros(sum(map(len, ids)), bool)
    lasting[places.to_numpy()] = True
    return [pa.array(part) for part in np.split(lasting, np.cumsum([len(own) for own in ids])[:-1])]


def _where(rows: pa.Table, mask: str) -> Declaration:
    """The rows where a column is true, as the input of a join, which takes them as they come: none is copied before."""
    source = Declaration("table_source", TableSourceNodeOptions(rows))
    return Declaration("filter", FilterNodeOptions(pc.field(mask)), [source])


def _created(rows: pa.Table, alive: pa.Array) -> pa.Table:
    """The first creation of each contract that has not ended; only these are copied, payloads and all."""
    # One chunk per column, as later steps pick rows of it: few of many chunks are left.
    alive_rows = rows.drop_columns(["event_type", "consuming"]).filter(alive).combine_chunks()
    # Mostly every contract is created once; where one is not, its first create counts.
    if pc.count_distinct(alive_rows["contract_id"]).as_py() == alive_rows.num_rows:
        return alive_rows
    order = pc.sort_indices(alive_rows, sort_keys=[("migration_id", "ascending"), ("record_time", "ascending")])
    return _first_of_each(alive_rows.take(order), "contract_id")


def _is_of(rows: pa.Table, templates: Sequence[str]) -> pa.ChunkedArray:
    return pc.is_in(rows["template_name"], pa.array(templates, pa.string()))


def _with_assigned(created: pa.Table, legs: pa.Table, assignments: pa.Array) -> pa.Table:
    """Creates, and contracts that only an assignment shows: their create is not in the history of this network."""
    own = _at_rest(created, pa.array(np.zeros(created.num_rows, np.int64)))
    # A contract can appear first in an assignment: it was created where this history does not reach.
    first = pc.invert(pc.is_in(legs["contract_id"], created["contract_id"]))
    shown = legs.filter(pc.and_(assignments, first))
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
    return kept.append_column("in_flight", pa.array(np.zeros(contracts.num_rows, bool))).select(_COLUMNS)


def _with_earlier(known: pa.Table, before: pa.Table) -> pa.Table:
    if not before.num_rows:
        return known
    # a snapshot does not say where its contracts are: what the history says of the same ones is fuller
    bare = pc.and_(pc.is_null(before["reassignment_counter"]), pc.is_in(before["contract_id"], known["contract_id"]))
    before = before.filter(pc.invert(bare))
    fresh = known.filter(pc.invert(pc.is_in(known["contract_id"], before["contract_id"])))
    return pa.concat_tables([before, fresh])


def _placed(alive: pa.Table, legs: pa.Table) -> pa.Table:
    """Each contract with its latest position: its creation, or the leg with the highest counter."""
    rows = _moved(alive, legs) if legs.num_rows else alive
    # A snapshot lists its contracts in the order of creation without the times, so they stay as they are, first.
    untold = pc.is_null(rows["record_time"])
    told = rows.filter(pc.invert(untold)) if rows["record_time"].null_count else rows
    order = [(name, "ascending") for name in ("migration_id", "record_time", "contract_id")]
    told = told.combine_chunks()  # rows are picked from one chunk several times as fast as from many
    placed = told.take(pc.sort_indices(told, sort_keys=order))
    return pa.concat_tables([rows.filter(untold), placed]) if placed.num_rows < rows.num_rows else placed


def _moved(rows: pa.Table, legs: pa.Table) -> pa.Table:
    last = _last_legs(legs, rows["contract_id"])
    last = last.take(pc.index_in(rows["contract_id"], last["contract_id"]))
    # By counter and not by time: an assignment may be recorded before its unassignment.
    newer = pc.fill_null(pc.greater_equal(last["counter"], pc.fill_null(rows["reassignment_counter"], -1)), False)  # noqa: FBT003
    away = pc.equal(last["leg"], "unassignment")
    nothing = pa.scalar(None, pa.string())
    changed = {
        "synchronizer_id": pc.if_else(away, nothing, last["target"]),
        "source_synchronizer": pc.if_else(away, last["source"], nothing),
        "target_synchronizer": pc.if_else(away, last["target"], nothing),
        "reassignment_counter": last["counter"],
        "in_flight": away,
    }
    columns = [pc.if_else(newer, changed[name], rows[name]) if name in changed else rows[name] for name in _COLUMNS]
    return pa.table(dict(zip(_COLUMNS, columns, strict=True)))


def _last_legs(legs: pa.Table, ids: pa.ChunkedArray) -> pa.Table:
    """For each of the contracts the leg with the highest counter; of two legs of one counter the assignment."""
    names = {
        "contract_id": "contract_id",
        "leg": "kind",
        "counter": "reassignment_counter",
        "source": "source_synchronizer",
        "target": "target_synchronizer",
    }
    kept = pa.table({name: legs[column] for name, column in names.items()}).filter(pc.is_in(legs["contract_id"], ids))
    # Of equal counters the assignment comes first, as the later step of the same reassignment.
    order = pc.sort_indices(kept, sort_keys=[("counter", "descending"), ("leg", "ascending")])
    return _first_of_each(kept.take(order), "contract_id")


def _first_of_each(rows: pa.Table, name: str) -> pa.Table:
    numbered = rows.select([name]).append_column("n", pa.array(np.arange(rows.num_rows)))
    first = numbered.group_by(name).aggregate([("n", "min")])
    return rows.take(first["n_min"])


def _end(rows: pa.Table, moment: Any, attrs: Mapping[str, Any]) -> Cursor | None:
    """The last place that the contracts reach to."""
    if moment is None:
        return end_of(attrs)
    if isinstance(moment, Cursor):
        return moment
    last = pc.max(up_to(rows, moment)["migration_id"]).as_py()
    return None if last is None else Cursor(last, moment)


def _said(moment: Any) -> Any:
    if moment is None:
        return None
    return (
        format_timestamp(moment) if isinstance(moment, int) else [moment.migration_id, format_timestamp(moment.micros)]
    )
