"""Computes tables from a caller's history by their models, and gives them in the caller's form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, TypeVar

import pyarrow as pa

from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, described, shape
from ledgerframes.loaders.opening import begin_of, check_contents, check_rows
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import Engine, steps
from ledgerframes.models.inputs import Inputs, inputs_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.tables.table import Table

T = TypeVar("T")


@contextmanager
def together(events: Any, *, opening: Any = None) -> Iterator[Inputs]:
    """A history for several tables: each step that they share is computed once.

    Args:
        events: as `inputs_of` takes them.
        opening: likewise; tables that take an opening are given the same one.

    Yields:
        What to give the functions of the tables as their `events`, until the end of the context.

    Raises:
        InputError: an argument is not valid, or columns are missing.
    """
    inputs = inputs_of(events, opening=opening)
    with Engine(inputs.gives) as engine:
        yield replace(inputs, engine=engine)


def computed(
    table: Table,
    inputs: Inputs,
    *,
    as_: As,
    decimals: Decimals | None,
    until: Cursor | int | None = None,
    variables: Mapping[str, Any] | None = None,
    unknown: Sequence[str] = (),
    check: Callable[[Engine], None] | None = None,
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
        notes: what else the provenance says of the rows.

    Raises:
        InputError: an argument is not valid, or columns are missing.
    """
    with _engine(inputs, until) as engine:

        def compute() -> tuple[pa.Table, dict[str, Any]]:
            engine.set(variables or {})
            if inputs.opening is not None:
                _check_opening(engine, inputs, table)
            if check:
                check(engine)
            rows = engine.rows(table.name)
            unread = {"not_understood": engine.not_understood(table.name, *unknown)}
            return rows, unread | (dict(notes(engine, rows)) if notes else {})

        rows, said = _computed(engine, inputs, table, compute)
    attrs = inputs.attrs | {"table": table.name, **said}
    schema = table.schema
    declared = pa.table([rows[name].cast(schema.field(name).type) for name in schema.names], schema=schema)
    return shape(described(declared, attrs), table, as_=as_, decimals=decimals, attrs=attrs)


@contextmanager
def _engine(inputs: Inputs, until: Cursor | int | None) -> Iterator[Engine]:
    """The engine that the history has, or one for this table alone."""
    if inputs.engine is not None and until is None:
        yield inputs.engine
    else:
        with Engine(inputs.gives, until=until) as engine:
            yield engine


def _check_opening(engine: Engine, inputs: Inputs, table: Table) -> None:
    """Refuse an opening that lacks what the table needs, or that reaches into the events."""
    assert inputs.opening is not None, "only called where there is one"
    needed = {name for step in {*steps(table.name)} & _BEGUN_EARLIER for name in READS[step].templates}
    check_contents(inputs.opening, needed, table.name, inputs.attrs)
    if inputs.store is None and begin_of(inputs.attrs) is None:
        first = engine.rows("first_place").to_pylist()
        check_rows(inputs.opening, Cursor(**first[0]) if first else None)


#: Reads of contracts that may have begun before the events and matter to them.
_BEGUN_EARLIER: Final = {
    name for name, read in READS.items() if read.rows == "creates" and read.templates and name != "unclaimed_amounts"
}


def _computed(engine: Engine, inputs: Inputs, table: Table, compute: Callable[[], T]) -> T:
    """What models give, with the errors that callers know: of a damaged lake, too little memory, too large a sum."""
    import duckdb

    try:
        return engine.interruptible(compute)
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    except duckdb.OutOfRangeException as error:
        raise InputError(f"{table.name} needs more than 38 digits ({error}); leave out what is no real coin") from error
    except duckdb.Error:
        inputs.read_again()
        raise
