"""Runs the models: a DuckDB connection over a caller's history, in which each step is computed once."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.errors import InputError
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.inputs import Give
from ledgerframes.models.interrupting import interruptible
from ledgerframes.models.reads import until_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import duckdb

    from ledgerframes.models.databases import Database

T = TypeVar("T")
_FILES: Final = files("ledgerframes.models")
#: Inputs from the caller: a history, or other tables.
INPUTS: Final = ("events", "reassignments", "opening", "updates", "verdicts", *SNAPSHOTS_READ)
#: How much memory models take, such as `4GB`; the rest goes to disk.
VARIABLE: Final = "LEDGERFRAMES_MEMORY_LIMIT"
#: Default: half of the machine's memory; with frames, enough that the total is one and a half times the frames.
HALF: Final = "50%"
_ADDED_BY_MODELS: Final = 330_000_000
_LEAST: Final = 256_000_000


@cache
def text_of(name: str) -> str:
    """The SQL of a model or of a read, as one SELECT."""
    return READS[name].sql() if name in READS else _sql_files()[name].read_text(encoding="utf-8").strip()


@cache
def _sql_files() -> Mapping[str, Traversable]:
    """The files of the models, by their names; those of the star are in a folder of their own."""
    every = (*_FILES.iterdir(), *(_FILES / "star").iterdir())
    return {file.name.removesuffix(".sql"): file for file in every if file.name.endswith(".sql")}


@cache
def known() -> frozenset[str]:
    """The names of all relations: inputs, reads and models."""
    return frozenset({*INPUTS, *READS, *_sql_files()} - {"macros"})


@cache
def below(name: str) -> tuple[str, ...]:
    """The relations that a model reads: names after from or join that are not its own steps."""
    return tuple(sorted({*re.findall(r"\b(?:from|join|pivot|unpivot)\s+(\w+)", _bare(name))} & known()))


def _bare(name: str) -> str:
    """The SQL without its comments."""
    return re.sub(r"--.*", "", text_of(name))


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", _bare(name)))


def _needed(name: str, inputs: Collection[str]) -> set[str]:
    """Possible columns of the inputs that a relation needs; one that reads only other models needs none."""
    if name in READS:
        return READS[name].needed
    return _words(name) if {*below(name)} & {*inputs, *_VIEWS} else set()


def steps(name: str, inputs: Collection[str] = INPUTS) -> Iterator[str]:
    """A model and everything below it, except the inputs; a relation comes before those that read it."""
    seen: set[str] = set()

    def visit(step: str) -> Iterator[str]:
        if step in seen or step in inputs:
            return
        seen.add(step)
        for lower in below(step):
            yield from visit(lower)
        yield step

    return visit(name)


@cache
def settings_of(name: str) -> frozenset[str]:
    """The settings that a model, or one below it, asks for."""
    return _settings_in(_bare(name)).union(*(settings_of(lower) for lower in below(name) if lower not in INPUTS))


def _settings_in(sql: str) -> frozenset[str]:
    """The settings that a text asks for, or the macros that it calls."""
    own = frozenset(re.findall(r"getvariable\('(\w+)'\)", sql))
    called = {*re.findall(r"(\w+)\(", sql)} & _macro_texts().keys()
    return own.union(*(_settings_in(_macro_texts()[macro]) for macro in called))


@cache
def _macro_texts() -> Mapping[str, str]:
    """The text of each macro, by name."""
    found = (re.search(r"macro (\w+)\(.*?\) as\s(.*)", text, re.DOTALL) for text in macros())
    return {match[1]: match[2] for match in found if match}


def kind_of(name: str) -> str:
    """How a step is created: as a table, which is computed once, or as a view."""
    return "view" if name in (*_VIEWS, *_JOINED) else "table"


def macros() -> list[str]:
    """The statements that define the macros."""
    text = (_FILES / "macros.sql").read_text(encoding="utf-8")
    return [statement.strip() for statement in re.split(r";\n", text) if statement.strip()]


class Engine:
    """A connection over one history, in which each step is computed once however many models need it.

    Args:
        inputs: for each input, a function that returns its columns by name. A model can be given, too.
        until: the moment up to which the history counts: a cursor, or microseconds in every migration.

    Raises:
        ConfigurationError: `LEDGERFRAMES_MEMORY_LIMIT` is not valid.
    """

    def __init__(self, inputs: Mapping[str, Give], *, until: Cursor | int | None = None) -> None:
        self._inputs = inputs
        self._until = until_of(until)
        self._columns: dict[str, tuple[set[str], set[str]]] = {}
        self._built: dict[str, str] = {}
        self._goal = ""
        self._rows: dict[str, pa.Table] = {}
        self._unread: dict[str, dict[str, int]] = {}
        self._settings: dict[str, Any] = {}
        self._sizes: dict[str, int | None] = {}
        self._database, self._connection, self._room = _opened(inputs.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        import duckdb

        if kind is None:
            self._connection.close()
            self._database.keep()
            return
        # After an error it may be damaged, or still be busy: that is no news then.
        for close in (self._connection.close, self._database.close):
            with suppress(duckdb.Error):
                close()

    def interruptible(self, call: Callable[[], T], of: str) -> T:
        """Make a call that requests rows; Ctrl-C ends it at once.

        Args:
            call: the call.
            of: the table that needs the rows.

        Raises:
            InputError: a sum has more than 38 digits.
        """
        import duckdb

        try:
            return interruptible(self._connection, call)
        except duckdb.OutOfRangeException as error:
            raise InputError(
                f"{of} needs more than 38 digits ({error}); leave out rows that are not real coin"
            ) from error

    def set(self, settings: Mapping[str, Any]) -> None:
        """Set variables of models, as `getvariable` reads them; steps computed with other values are dropped.

        Args:
            settings: by their names; all that are not named are null.
        """
        names = {*settings, *self._settings}
        changed = {name for name in names if settings.get(name) != self._settings.get(name)}
        for name in changed:
            self._connection.execute(f"set variable {name} = ?", [settings.get(name)])
        self._settings = dict(settings)
        self._forget({step for step in self._built if settings_of(step) & changed})
        self._rows = {step: rows for step, rows in self._rows.items() if not settings_of(step) & changed}
        self._unread = {step: found for step, found in self._unread.items() if not settings_of(step) & changed}

    def rows(self, name: str) -> pa.Table:
        """The rows of a model, in its order."""
        if name in self._rows:
            return self._rows[name]
        rows = self._run(lambda query: self._connection.sql(query).to_arrow_table(), self._selected(name))
        if name not in self._built and name not in self._inputs:
            self._rows[name] = rows
        return rows

    def batches(self, name: str) -> pa.RecordBatchReader:
        """The rows of a model in batches, never all at once; nothing else may be queried meanwhile."""
        return self._run(lambda query: self._connection.sql(query).to_arrow_reader(_ROWS), self._selected(name))

    def repeated(self, name: str, key: Sequence[str]) -> tuple[Any, ...] | None:
        """The first key that two rows of a model share; None if there is none."""
        listed = ", ".join(key)
        # DuckDB would sort rows that are only counted.
        rows = re.sub(r"\norder by\b.*", "", self._selected(name), flags=re.DOTALL)
        query = f"select {listed} from ({rows}) group by all having count(*) > 1 order by all limit 1"
        found: list[tuple[Any, ...]] = self._run(lambda query: self._connection.sql(query).fetchall(), query)
        return found[0] if found else None

    def _selected(self, name: str) -> str:
        """The SELECT of a model whose inputs have been created.

        It is not stored as a table first: requested rows are often large, and no other step reads them.
        """
        order = self._missing(name)
        self._register(order or [name])
        if order[-1:] == [name] and kind_of(name) == "table":
            self._make(order[:-1])
            return text_of(name)
        self._make(order)
        return f"from {name}"

    def not_understood(self, name: str, *unknown: str) -> dict[str, int]:
        """How often a model found something that it cannot read, the most frequent first.

        Args:
            name: the model.
            unknown: models that list templates and choices that no model knows, and how often they occur.

        Returns:
            Counts by template, `template/choice`, or either with the member; beyond 100 names under `others`.
        """
        counts: Counter[str] = Counter()
        for step in (*(step for step in self._steps(name) if step in READS), *unknown):
            counts.update(self.unread(step))
        found = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        rest = sum(rows for _, rows in found[_MOST:])
        return dict(found[:_MOST]) | ({"others": rest} if rest else {})

    def unread(self, step: str) -> Mapping[str, int]:
        """The same of one read, or of one model that lists what no model knows; counted once."""
        if step not in self._unread:
            self._build(step)
            found = f"select template_name, choice, null as member, rows from {step}"
            if step in READS:
                choice = "null" if READS[step].rows == "creates" else "choice"
                found = f"select template_name, {choice} as choice, nullif(unnest(wrong), '') as member, 1 as rows"
                found += f" from {step} where wrong is not null"
            name = "concat_ws(': ', concat_ws('/', template_name, choice), member)"
            query = f"select {name}, sum(rows)::bigint from ({found}) group by all"
            self._unread[step] = dict(self._run(self._connection.execute, query).fetchall())
        return self._unread[step]

    def _build(self, name: str) -> None:
        order = self._missing(name)
        self._register(order)
        self._make(order)

    def _missing(self, name: str) -> list[str]:
        self._goal = name
        return [step for step in self._waiting() if step not in self._built]

    def _forget(self, built: Collection[str]) -> None:
        for step in built:
            self._connection.execute(f"drop {self._built.pop(step)} {step}")

    def _make(self, order: list[str]) -> None:
        """Create steps for others to read; everything below them exists or comes first."""
        if not order:
            return
        # Others ask for the order that they need; one thread alone could keep that of the rows below a step.
        self._connection.execute("set preserve_insertion_order = false")
        try:
            for step in order:
                if step in self._rows:
                    self._connection.register(step, self._rows[step])
                    self._built[step] = "view"
                else:
                    self._run(self._connection.execute, f"create temp {kind_of(step)} {step} as {text_of(step)}")
                    self._built[step] = kind_of(step)
        finally:
            self._connection.execute("set preserve_insertion_order = true")

    def _run(self, call: Callable[[str], T], statement: str) -> T:
        """Run a statement; if it does not fit, steps read before make room, and frames lower its limit no more."""
        import duckdb

        try:
            return call(statement)
        except duckdb.OutOfMemoryException:
            spare = self._spare()
            if VARIABLE in os.environ and not spare:
                raise
            self._forget(spare)
            if VARIABLE not in os.environ:
                self._database.limit(HALF)
            return call(statement)

    def _waiting(self) -> Iterator[str]:
        """The steps of the model last asked for that its tables which exist do not hold yet, and views."""
        made = {step for step, kind in self._built.items() if kind == "table" or step in self._rows}
        return steps(self._goal, {*INPUTS, *self._inputs, *made})

    def _spare(self) -> Collection[str]:
        """The steps that nothing reads any more of what is still to be made for that model."""
        return self._built.keys() - {self._goal}.union(*({step, *below(step)} for step in self._waiting()))

    def _steps(self, name: str) -> Iterator[str]:
        return steps(name, {*INPUTS, *self._inputs})

    def _register(self, order: list[str]) -> None:
        """Register the columns of the inputs that the steps name; views list columns that few steps need."""
        needed = {name for step in order if step not in _VIEWS for name in _needed(step, self._inputs)}
        listed = {name for step in order if step in _VIEWS for name in _words(step)}
        for name, give in self._inputs.items():
            wanted, optional = self._columns.setdefault(name, ({*_PLACE}, set()))
            if name in needed | listed and not (needed <= wanted and listed <= wanted | optional):
                wanted |= needed
                optional |= listed
                self._give(name, give, give(wanted, optional, self._room))
                where = self._until if name in _HISTORY else "true"
                self._connection.execute(f"create or replace temp view {name} as from given_{name} where {where}")

    def _give(self, name: str, give: Give, rows: Any) -> None:
        """Make an input known, and leave it room in the memory."""
        if isinstance(rows, str):
            self._connection.execute(f"create or replace temp view given_{name} as {rows}")
        else:
            self._connection.register(f"given_{name}", rows)
        if isinstance(rows, ds.Dataset):
            # Its rows, which are not counted, would be taken for few, and a join would keep them in memory.
            self._connection.execute("set disabled_optimizers = 'build_side_probe_side'")
        self._sizes[name] = getattr(give, "size", rows.nbytes) if isinstance(rows, pa.Table) else None
        if VARIABLE not in os.environ:
            sizes = [size for size in self._sizes.values() if size is not None]
            of_frames = f"{max(sum(sizes) // 2 - _ADDED_BY_MODELS, _LEAST)}B"
            frames_only = len(sizes) == len(self._sizes)
            self._database.limit(of_frames if frames_only else HALF, strictly=not frames_only)


def _opened(inputs: Iterable[Give]) -> tuple[Database, duckdb.DuckDBPyConnection, int]:
    """A database that reads the files of the inputs, a connection to it, and the bytes that the inputs may take.

    That is half of its memory.
    """
    from ledgerframes.models.databases import Database

    database = Database.borrow(macros(), [file for give in inputs for file in getattr(give, "files", ())])
    connection = database.connection()

    def prepare() -> int:
        connection.execute("set timezone = 'UTC'; set disabled_optimizers = ''; set preserve_insertion_order = true")
        # Else a step of less than 122,880 rows, each with JSON to parse, is read by one thread. DuckDB's own tests set
        # this, so as to run on several threads what is small; rows stay the same.
        connection.execute("pragma verify_parallelism")
        return database.bound() // 2

    try:
        return database, connection, interruptible(connection, prepare)
    except BaseException:
        connection.close()
        database.close()
        raise


#: Rows that a reader of a model has in memory at once.
_ROWS: Final = 50_000
#: The number of names that provenance lists; a history can have any number of them.
_MOST: Final = 100
#: Selections of the inputs, which are not worth a copy.
_VIEWS: Final = ("creates", "exercises", "endings")
#: Large tables with little joined to them, which are not worth a copy either.
_JOINED: Final = ("coupon_lives",)
#: The inputs whose rows have a place in the history.
_HISTORY: Final = ("events", "reassignments")
#: Columns that every step may need: the place and the kind of an item.
_PLACE: Final = {"migration_id", "record_time", "event_type", "choice", "kind"}
