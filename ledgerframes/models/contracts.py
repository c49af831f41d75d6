"""`active_contracts`: which contracts are active at a moment and on which synchronizer, by replay of the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ledgerframes.arguments import entity, refuse
from ledgerframes.errors import InputError
from ledgerframes.frames import As, proof_of
from ledgerframes.loaders.history import History
from ledgerframes.loaders.opening import Loader, check_contents, end_of, line_for, proof
from ledgerframes.models.computing import computed
from ledgerframes.models.coverage import check_same_range, check_whole
from ledgerframes.models.declared_reads import OPENED
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs, columns_of, inputs_of
from ledgerframes.models.signatures import table_function
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.timestamps import LATEST, format_timestamp, to_micros


@table_function
def active_contracts(
    events: Any,
    reassignments: Any = None,
    *,
    at: Bound | None = None,
    template: str | None = None,
    opening: Any = None,
    as_: As = "pandas",
) -> Any:
    """Replay creates, consuming exercises and reassignments (contract: States and transitions).

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet, from ledger begin.
        reassignments: legs from the same source, where `events` is a frame; None if no contract is reassigned.
        at: replay up to and including this time (in every migration) or pair (migration id, time); to the end of the
            frames by default.
        template: only contracts of this `Module:Entity`.
        opening: the contracts active before the frames begin: a frame that this function, `load_active_contracts` or
            `load` of a `Store` returned, whole and of one snapshot; with `template=` of coin also an `Opening` of
            `load_opening`; or `"nothing"`.
        as_: `"pandas"`, `"arrow"` or `"polars"`.

    Returns:
        One row per active contract, in the order of creation: contract_id, template_id,
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
        ...     active = lf.active_contracts(lf.load_history(net))
        >>> active.contract_id.is_unique, int(active.in_flight.sum())
        (True, 1)
    """
    if template is not None:
        entity(template, "template")
    templates = None if template is None else (template,)
    return active_of(templates, events, reassignments, at=at, opening=opening, as_=as_)


def active_of(
    templates: tuple[str, ...] | None,
    events: Any,
    reassignments: Any = None,
    *,
    at: Bound | None = None,
    opening: Any,
    as_: As,
) -> Any:
    """The same, of some templates or of every one."""
    moment = bound(at, "at")
    # A snapshot has every template; contracts loaded for other tables have only theirs, at any cursor.
    opened_by: Loader = "load_opening" if templates and {*templates} <= {*OPENED} else "load_active_contracts"
    inputs = whole_history(events, reassignments, opening=opening, until=moment, opened_by=opened_by)
    opened, line = inputs.opening, line_for(inputs.attrs, opened_by)
    if opened is not None and (templates or opened.templates is not None or opened.parties is not None):
        if templates is None and opened.templates is not None:
            raise InputError(
                f"opening= has the contracts of {len(opened.templates)} templates alone, and active_contracts needs"
                f" those of every template; give template=, or {line}"
            )
        check_contents(opened, templates or (), ACTIVE.name, line)

    def notes(engine: Engine, rows: pa.Table) -> dict[str, Any]:
        """Attributes that prove that the contracts are the opening of the following history."""
        end = _end(engine, moment, inputs.attrs)
        cursor = None if end is None else [end.migration_id, format_timestamp(end.micros)]
        two = {"two_places": True} if isinstance(moment, int) and end and _runs_after(end, inputs) else {}
        return {"at": _as_attribute(moment), "cursor": cursor, **two, **proof(rows, templates=templates, parties=None)}

    variables = {"templates": None if templates is None else list(templates)}
    return computed(ACTIVE, inputs, as_=as_, decimals=None, until=moment, variables=variables, notes=notes)


def whole_history(
    events: Any,
    reassignments: Any,
    *,
    opening: Any,
    until: Cursor | int | None,
    opened_by: Loader = "load_opening",
) -> Inputs:
    """Read a complete history: from ledger begin or an opening, without a gap, all of its tables equally far.

    Raises:
        InputError: `reassignments` is given in addition to a history that has them, or their ranges differ.
        PartialResultError: the provenance does not prove that nothing is missing.
    """
    if reassignments is not None and (isinstance(events, History) or not len(columns_of(events))):
        refuse("reassignments", reassignments, "leave it out: they are read from the value of events")
    inputs = inputs_of(events, reassignments=reassignments, opening=opening, opened_by=opened_by)
    check_whole(inputs.attrs, opening=opening, opened_by=opened_by)
    legs = events.reassignments if isinstance(events, History) else reassignments
    if legs is not None:
        of_legs = proof_of(legs)
        check_whole(of_legs, name="reassignments", opening=opening, opened_by=opened_by)
        check_same_range(inputs.attrs, of_legs, until)
    return inputs


def _end(engine: Engine, moment: Cursor | int | None, attrs: Mapping[str, Any]) -> Cursor | None:
    """The last place that the contracts reach to: not beyond what was loaded, as more may have come after that."""
    reached = end_of(attrs)
    if moment is None:
        return reached
    if not isinstance(moment, Cursor):
        last = engine.rows("last_place").to_pylist()
        if not last:
            return None
        moment = Cursor(last[0]["migration_id"], moment)
    return moment if reached is None else min(moment, reached)


def _runs_after(end: Cursor, inputs: Inputs) -> bool:
    """Whether an earlier migration has events after a place, so that a replay up to its time is of two places."""
    if not end.migration_id:
        return False
    with Engine(inputs.gives, until=Cursor(end.migration_id - 1, LATEST)) as engine:
        last = engine.rows("last_place").to_pylist()
    return bool(last) and to_micros(last[0]["record_time"], "record_time") > end.micros


def _as_attribute(moment: Cursor | int | None) -> Any:
    if moment is None:
        return None
    return (
        format_timestamp(moment) if isinstance(moment, int) else [moment.migration_id, format_timestamp(moment.micros)]
    )
