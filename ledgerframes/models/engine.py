"""Runs the models: a DuckDB connection over a caller's history, in which each step is computed once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

import duckdb
import pyarrow as pa

from ledgerframes.models.declared_reads import READS
from ledgerframes.models.inputs import Give
from ledgerframes.paging.cursor import Cursor

_FILES: Final = files("ledgerframes.models")
#: What the caller's history gives.
INPUTS: Final = ("events", "reassignments", "opening")
#: No files, no network, no extensions, and no Python variables under the names of tables.
_LOCKED: Final = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


@cache
def text_of(name: str) -> str:
    """The SQL of a model or of what is read, as one SELECT."""
    return READS[name].sql() if name in READS else (_FILES / f"{name}.sql").read_text(encoding="utf-8").strip()


@cache
def known() -> frozenset[str]:
    """The names of all relations: inputs, reads and models."""
    models = {file.name.removesuffix(".sql") for file in _FILES.iterdir() if file.name.endswith(".sql")}
    return frozenset({*INPUTS, *READS, *models} - {"macros"})


@cache
def below(name: str) -> tuple[str, ...]:
    """The relations that a model reads: what follows from or join and is no step of its own."""
    bare = re.sub(r"--.*", "", text_of(name))
    return tuple(sorted({*re.findall(r"\b(?:from|join|unpivot)\s+(\w+)", bare)} & known()))


def steps(name: str) -> Iterator[str]:
    """A model and everything below it, but for the inputs; what is read comes before what reads it."""
    seen: set[str] = set()

    def visit(step: str) -> Iterator[str]:
        if step in seen or step in INPUTS:
            return
        seen.add(step)
        for lower in below(step):
            yield from visit(lower)
        yield step

    return visit(name)


def macros() -> list[str]:
    """The statements that define the macros."""
    text = (_FILES / "macros.sql").read_text(encoding="utf-8")
    return [statement.strip() for statement in re.split(r";\n", text) if statement.strip()]


class Engine:
    """A connection over one history.

    Args:
        inputs: for each input, what gives its columns by their names.
        until: the moment up to which the history counts: a cursor, or microseconds in every migration.
        variables: settings of models, as `getvariable` reads them.
        memory: how much DuckDB may use before it spills, as "4GB"; by default four fifths of the machine's.
    """

    def __init__(
        self,
        inputs: Mapping[str, Give],
        *,
        until: Cursor | int | None = None,
        variables: Mapping[str, Any] | None = None,
        memory: str | None = None,
    ) -> None:
        self._inputs = inputs
        self._until = _until(until)
        self._given: dict[str, set[str]] = {}
        self._built: set[str] = set()
        self._stack = ExitStack()
        spill = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="ledgerframes-"))
        config: dict[str, Any] = {**_LOCKED, "temp_directory": spill} | ({"memory_limit": memory} if memory else {})
        self._connection = self._stack.enter_context(duckdb.connect(config=config))
        self._connection.execute("set timezone = 'UTC'")
        for statement in macros():
            self._connection.execute(statement)
        for name, value in (variables or {}).items():
            self._connection.execute(f"set variable {name} = ?", [value])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rows(self, name: str) -> pa.Table:
        """The rows of a model, in its order."""
        self._build(name)
        return self._connection.sql(f"from {name}").to_arrow_table()

    def not_understood(self, name: str, *unknown: str) -> dict[str, int]:
        """How often a model met something that it cannot read, the most frequent first.

        Args:
            name: the model.
            unknown: models that list templates and choices that no model knows.

        Returns:
            Counts by template, `template/choice`, or either with the member; beyond 100 names under `others`.
        """
        parts = [
            f"select template_name, {'null' if READS[read].rows == 'creates' else 'choice'} as choice,"
            f" unnest(wrong) as member from {read} where wrong is not null"
            for read in steps(name)
            if read in READS
        ]
        for model in unknown:
            self._build(model)
            parts.append(f"select template_name, choice, null as member from {model}")
        if not parts:
            return {}
        rows = self._connection.sql(
            "select concat_ws(': ', concat_ws('/', template_name, choice), member) as name, count(*) as rows"
            f" from ({' union all '.join(parts)}) group by name order by rows desc, name"
        ).fetchall()
        rest = sum(count for _, count in rows[_MOST:])
        return dict(rows[:_MOST]) | ({"others": rest} if rest else {})

    def _build(self, name: str) -> None:
        order = [step for step in steps(name) if step not in self._built]
        self._register(order)
        for step in order:
            kind = "view" if step in _VIEWS else "table"
            self._connection.execute(f"create temp {kind} {step} as {text_of(step)}")
            self._built.add(step)

    def _register(self, order: list[str]) -> None:
        """Give the connection the columns of the inputs that the steps name."""
        words = {word for step in order for word in re.findall(r"\w+", text_of(step))}
        for name, give in self._inputs.items():
            known = self._given.setdefault(name, set())
            if name in words and not words <= known:
                known |= words | _PLACE
                self._connection.register(f"given_{name}", give(known))
                where = self._until if name != "opening" else "true"
                self._connection.execute(f"create or replace temp view {name} as from given_{name} where {where}")


#: Names that provenance lists; a history can hold any number of them.
_MOST: Final = 100
#: Selections of the inputs, which are not worth a copy.
_VIEWS: Final = ("creates", "exercises")
_PLACE: Final = {"migration_id", "record_time"}


def _until(moment: Cursor | int | None) -> str:
    """The condition that an item of the history counts."""
    if moment is None:
        return "true"
    if isinstance(moment, int):
        return f"epoch_us(record_time) <= {moment}"
    here = f"migration_id = {moment.migration_id} and epoch_us(record_time) <= {moment.micros}"
    return f"(migration_id < {moment.migration_id} or ({here}))"
