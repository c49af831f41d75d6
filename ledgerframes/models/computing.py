"""Computes tables from a caller's history by their models, and returns them in the caller's form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeVar

import pyarrow as pa

from ledgerframes.errors import IncompleteFiguresWarning, InputError, warn
from ledgerframes.frames import As, Decimals, attrs_of, shape
from ledgerframes.loaders.opening import Opening, begin_of, check_contents, check_rows, line_for
from ledgerframes.models.coverage import check_reached, has_gap
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import Engine, below, steps
from ledgerframes.models.inputs import Inputs, inputs_of
from ledgerframes.models.ledger_frames import filled
from ledgerframes.number_format import plural
from ledgerframes.paging.cursor import Cursor
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.table import Table
from ledgerframes.tables.verdicts import VERDICTS

T = TypeVar("T")


@dataclass(frozen=True)
class Incomplete:
    """Contracts and names that computed tables lack, for one warning of each kind.

    Attributes:
        begun_before: by table, how many contracts from before the range nothing may describe, and of how many of them
            the coin is not known.
        strange: by table, the templates and choices that may move coin, or are like rewards, and are not known.
    """

    begun_before: dict[str, tuple[int, int]] = field(default_factory=dict)
    strange: dict[str, Collection[str]] = field(default_factory=dict)

    def warn(self, remedy: str, *, selected: bool = False) -> None:
        """Warn of it, with a remedy for contracts from before the range; a selection lacks rows that explain names."""
        if self.begun_before:
            contracts, unknown = map(max, zip(*self.begun_before.values(), strict=True))
            most = "up to " if len(self.begun_before) > 1 else ""
            coin = f" (for {most}{unknown:,} the coin is not known)" if unknown else ", though each one's coin is known"
            warn(
                f"{', '.join(self.begun_before)}: {most}{plural(contracts, 'contract')} that ended in this range began"
                f" before it, and nothing describes all of them{coin}; {remedy}",
                IncompleteFiguresWarning,
            )
        if names := sorted({name for strange in self.strange.values() for name in strange}):
            more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
            why = (
                "these are not all events that were loaded, and without the others nothing explains"
                if selected
                else "this version does not know"
            )
            warn(
                f"{', '.join(self.strange)}: {why} {', '.join(names[:_FEW])}{more}, which are like"
                " rewards or may move coin; they are not in these figures, and attrs['not_understood'] counts them",
                IncompleteFiguresWarning,
            )


@contextmanager
def together(
    events: Any, *, opening: Any = None, rows_only: bool = False, incomplete: Incomplete | None = None
) -> Iterator[Inputs]:
    """A history for several tables: each step that they share is computed once.

    Args:
        events: as `inputs_of` takes them.
        opening: see the tables; those that take an opening are given the same one.
        rows_only: of a history in memory: the rows and what was not understood alone, without edges and the checks of
            the ledger's own sums.
        incomplete: takes what the tables lack, and the caller warns of it; else each table does.

    Yields:
        An object to pass to the functions of the tables as `events`, until the end of the context.

    Raises:
        InputError: an argument is not valid, or columns are missing.
    """
    inputs = inputs_of(events, opening=opening)
    with Engine(inputs.gives) as engine:
        yield replace(inputs, engine=engine, rows_only=rows_only, incomplete=incomplete)


def computed(
    table: Table,
    inputs: Inputs,
    *,
    as_: As,
    decimals: Decimals | None,
    until: Cursor | int | None = None,
    variables: Mapping[str, Any] | None = None,
    unknown: Sequence[str] = (),
    check: Callable[[Engine], object] | None = None,
    edges: str = "",
    kind: str | None = None,
    notes: Callable[[Engine, pa.Table], Mapping[str, Any]] | None = None,
) -> Any:
    """A computed table in the caller's form.

    Args:
        table: its declaration; the model has its name.
        inputs: the caller's history.
        as_: the form.
        decimals: how pandas holds amounts.
        until: the moment up to which the history counts.
        variables: settings of the model.
        unknown: models that list templates and choices that the table does not know.
        check: refuses what would be too much.
        edges: the model of contracts that began before the range or are open at its end.
        kind: of these, the kind of the table.
        notes: further facts about the rows for the provenance.

    Raises:
        InputError: an argument is not valid, columns are missing, or a sum has more digits than an amount can have.
        PartialResultError: the history is not known up to that moment.
    """
    if until is not None:
        check_reached(inputs, until)
    # Kept rows cover everything that a lake has, from ledger begin if that matters.
    stored = _stored(inputs, table) if until is None and dict(variables or {}) in ({}, {"begun": True}) else None
    if stored is not None:
        return _shaped(*stored, table, inputs, as_=as_, decimals=decimals)
    with _engine(inputs, until) as engine:

        def compute() -> tuple[pa.Table, dict[str, Any]]:
            engine.set(({"may_have_gap": True} if has_gap(inputs.attrs) else {}) | dict(variables or {}))
            if inputs.opening is not None and not inputs.rows_only:
                _check_opening(inputs.opening, inputs, table)
            if check:
                check(engine)
            rows = engine.rows(table.name)
            _check_once(engine, inputs, table)
            if inputs.store is None or inputs.opening is not None:
                _check_network(engine, inputs, table)
            if inputs.opening is not None and not inputs.rows_only:
                _check_reach(engine, inputs.opening, inputs)
            if inputs.verdict_attrs is not None:
                _check_verdicts(engine)
            own_attrs: dict[str, Any] = {"not_understood": engine.not_understood(table.name, *unknown)}
            own_attrs |= {"edges": _edges(engine, edges, kind)} if edges and not inputs.rows_only else {}
            for name in {*unknown} & {*_MOVERS}:
                strange.update(engine.unread(name))
            return rows, own_attrs | (dict(notes(engine, rows)) if notes and not inputs.rows_only else {})

        strange: set[str] = set()
        rows, own_attrs = _computed(engine, inputs, table, compute)
    _warn(table.name, own_attrs.get("edges"), strange, inputs)
    return _shaped(rows, own_attrs, table, inputs, as_=as_, decimals=decimals)


def _stored(inputs: Inputs, table: Table) -> tuple[pa.Table, dict[str, Any]] | None:
    """The rows of a table that a store keeps, if they match its current history, with the known facts about them."""
    stored_rows = getattr(inputs.store, "_derived_rows", None)
    found = None if stored_rows is None or inputs.opening is not None else stored_rows(table.name)
    if found is None:
        return None
    rows, unknown = found
    return rows, {"kept": True, "not_understood": {"kept rows": unknown} if unknown else {}}


def _shaped(
    rows: pa.Table, own_attrs: Mapping[str, Any], table: Table, inputs: Inputs, *, as_: As, decimals: Decimals | None
) -> Any:
    """Rows in the declared columns and the caller's form, with the provenance of the history and further facts."""
    attrs, schema = inputs.attrs | {"table": table.name, "rows": len(rows), **own_attrs}, table.schema
    declared = pa.table([rows[name].cast(schema.field(name).type) for name in schema.names], schema=schema)
    return shape(declared, table, as_=as_, decimals=decimals, attrs=attrs)


def not_understood(rows: Any) -> str:
    """Name the contents that no model could read, which are therefore not in the rows; empty if there are none."""
    counts = attrs_of(rows).get("not_understood") or {}
    if not counts:
        return ""
    named = f"{', '.join(list(counts)[:_FEW])}{' and others' if len(counts) > _FEW else ''}"
    times = plural(sum(counts.values()), "time")
    return f"{times} a template, choice or member is not read by this version and left out of these figures: {named}."


@contextmanager
def _engine(inputs: Inputs, until: Cursor | int | None) -> Iterator[Engine]:
    """The engine that the history has, or one for this table alone."""
    if inputs.engine is not None and until is None:
        yield inputs.engine
    else:
        with Engine(inputs.gives, until=until) as engine:
            yield engine


#: Models that list what moves coin, or is like a reward, and that no model knows.
_MOVERS: Final = ("unknown_rewards", "unknown_rules_choices", "unknown_coin_choices")
#: Names that a warning lists.
_FEW: Final = 5


def _edges(engine: Engine, model: str, kind: str | None) -> dict[str, dict[str, Any]]:
    """Contracts and coin that began before the range or are open at its end, and how many amounts are unknown."""
    sums = {edge: {"rows": 0, "coin": Decimal(0), "not_known": 0} for edge in ("began_before", "open_at_end")}
    sums["began_before"]["without_create"] = 0
    for row in engine.rows(model).to_pylist():
        for name, value in sums[row["edge"]].items():
            if kind in {None, row["kind"]}:
                sums[row["edge"]][name] = value + row[name]
    return {edge: own | {"coin": format(own["coin"], "f")} for edge, own in sums.items()}


def _warn(table: str, edges: Mapping[str, Any] | None, strange: Collection[str], inputs: Inputs) -> None:
    """Warn of missing input; the tables of a lake are computed part by part, each with the earlier contracts."""
    before = {} if edges is None or (inputs.opening and inputs.opening.cursor is None) else edges["began_before"]
    lacks = Incomplete() if inputs.incomplete is None else inputs.incomplete
    if before.get("without_create"):
        lacks.begun_before[table] = before["without_create"], before["not_known"]
    if strange:
        lacks.strange[table] = strange
    if lacks is not inputs.incomplete:
        remedy = f"give {line_for(inputs.attrs)}" if lacks.begun_before else ""
        lacks.warn(remedy, selected="selected_of" in inputs.attrs)


def _check_opening(opening: Opening, inputs: Inputs, table: Table) -> None:
    """Refuse an opening that lacks contracts that the table needs."""
    needed = {name for step in {*steps(table.name)} & _BEGUN_EARLIER for name in READS[step].templates}
    check_contents(opening, needed, table.name, line_for(inputs.attrs, inputs.opened_by))


def _check_reach(engine: Engine, opening: Opening, inputs: Inputs) -> None:
    """Refuse an opening that reaches into the events."""
    begin = begin_of(inputs.attrs)
    if inputs.store is None and (begin is None or begin[0] is None):
        first = engine.rows("first_place").to_pylist()
        check_rows(opening, Cursor(**first[0]) if first else None, inputs.opened_by)


def _check_once(engine: Engine, inputs: Inputs, table: Table) -> None:
    """Refuse events, reassignments and verdicts that occur twice, as joined loads have; a store has each once."""
    read = {lower for step in steps(table.name, inputs.gives) for lower in below(step)}
    given = [] if inputs.verdict_attrs is None else [VERDICTS]
    for one in given if inputs.store is not None else (EVENTS, REASSIGNMENTS, *given):
        if not {one.name} & read & {*inputs.gives}:
            continue
        # Frames of as many rows as were loaded have no event added: a look at the first of each update is quick.
        loaded = one is EVENTS and "complete" in inputs.attrs and "selected_of" not in inputs.attrs
        if twice := engine.rows("repeated_roots" if loaded else f"repeated_{one.name}").to_pylist():
            raise InputError(
                f"{one.name} has the update {twice[0]['update_id']} twice, and figures would count it twice; keep each"
                f" once, for example with {one.name}.drop_duplicates({list(one.key)})"
            )


def _check_network(engine: Engine, inputs: Inputs, table: Table) -> None:
    """Refuse rows of two networks, as joined histories have, or an opening of another: their rounds name two DSOs."""
    if "creates" in steps(table.name, inputs.gives) and len(found := engine.rows("networks")["dso"].to_pylist()) > 1:
        both = "events are" if inputs.opening is None else "events and opening= are"
        raise InputError(
            f"{both} of two networks, of {found[0]} and of {found[1]}, whose rounds and figures would be mixed; give"
            " what is of one network"
        )


def _check_verdicts(engine: Engine) -> None:
    """Refuse verdicts of another network than the history: they have no update in common."""
    if foreign := engine.rows("foreign_verdicts").to_pylist():
        raise InputError(
            f"the verdicts are of updates such as {foreign[0]['update_id']}, none of which is in the history; give"
            " those of one network"
        )


#: Reads of contracts that may have begun before the events and matter to them.
_BEGUN_EARLIER: Final = {
    name for name, read in READS.items() if read.templates and not read.choices and name != "unclaimed_amounts"
}


def _computed(engine: Engine, inputs: Inputs, table: Table, compute: Callable[[], T]) -> T:
    """Compute models, with errors that callers know: for a damaged lake, too little memory, too large a sum."""
    import duckdb

    try:
        return engine.interruptible(compute, table.name)
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    except duckdb.InterruptException:
        raise  # Ctrl-C: whatever was not read is no damage
    except duckdb.Error:
        inputs.read_again()
        raise


@lru_cache
def unknown_movers(seen: frozenset[tuple[str | None, str | None]]) -> tuple[str, ...]:
    """The templates, or templates with a choice, that no model knows.

    One sync sees much the same as the next, and three models take longer than a short sync.

    Args:
        seen: templates as `Module:Entity`, each with a choice, or None for creates.
    """
    pairs = sorted(seen, key=str)
    kinds = ["created_event" if choice is None else "exercised_event" for _, choice in pairs]
    columns = [[template for template, _ in pairs], [choice for _, choice in pairs], kinds]
    named = pa.table([pa.array(cells, pa.string()) for cells in columns], ["template_name", "choice", "event_type"])
    with Engine(inputs_of(filled(named, EVENTS)).gives) as engine:
        models = ("unknown_reward_templates", *_MOVERS[1:])
        return tuple(sorted({name for model in models for name in engine.unread(model)}))
