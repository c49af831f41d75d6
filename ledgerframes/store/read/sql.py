"""Read-only SQL over a store's tables by DuckDB; `Store.sql` calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.arguments import did_you_mean, text
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, check_shape, shape
from ledgerframes.models.interrupting import interruptible
from ledgerframes.store.delta.storage_errors import raise_damage
from ledgerframes.store.delta.table import DeltaStoreTable

if TYPE_CHECKING:
    import duckdb

#: DuckDB turns a PIVOT into several statements.
_READING: Final = ("SELECT", "MULTI")
#: Without a table's name: what is there?
_LISTING: Final = re.compile(r"\s*(?:show|describe)\s+(?:all\s+)?tables\b|\s*(?:show|describe)\s*;?\s*$", re.IGNORECASE)
_NO_TABLE: Final = re.compile(r"Table with name (\S+) does not exist")


def ask(
    query: str,
    dataset: Callable[[str], Any],
    names: Sequence[str],
    *,
    stored: Mapping[str, DeltaStoreTable],
    as_: As,
    decimals: Decimals | None,
    parameters: Sequence[Any] | None,
) -> Any:
    """Run one query; only those tables that it reads are opened.

    Args:
        query: one SELECT in DuckDB's SQL.
        dataset: returns the rows of a table by its name.
        names: those that a query can use: of models, and of tables that a store can have.
        stored: the tables that the store has.
        as_: the form of the result.
        decimals: how pandas holds amounts.
        parameters: values for `?`.

    Raises:
        InputError: the query is wrong or does more than read.
        ConfigurationError: `LEDGERFRAMES_MEMORY_LIMIT` is not valid.
        StoreError: a file is damaged.
    """
    check_shape(as_, decimals)
    text(query, "query", "one SELECT statement as text")
    import duckdb

    from ledgerframes.models.databases import Database

    # No files, no network, no extensions, and no Python variables under the names of tables.
    database = Database(macros=(), files=())
    connection = database.connection()

    def run() -> pa.Table:
        with connection:
            read: list[str] = []
            try:
                database.bound()
                # DuckDB shows and truncates times in the machine's zone by default.
                connection.execute("SET TimeZone = 'UTC'")
                _check_statement(connection, query)
                read += _named(query, names, stored)
                for name in read:
                    connection.register(name, dataset(name))
                # Last, since nothing can be set afterwards, not even by the query.
                connection.execute("SET lock_configuration = true")
                return _with_durations(connection.sql(query, params=parameters).to_arrow_table())
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from error
            except duckdb.InterruptException:
                raise
            except duckdb.Error as error:
                if not isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
                    raise_damage([stored[name] for name in read if name in stored], error)
                raise InputError(f"the query cannot be run: {_with_suggestion(error, stored, names)}") from error

    try:
        answer = interruptible(connection, run)
    finally:
        with suppress(duckdb.Error):  # an interrupted one may still be busy
            database.close()
    if as_ == "polars" and (twice := {name for name in answer.column_names if answer.column_names.count(name) > 1}):
        raise InputError(
            f"two columns of the answer are called {min(twice)!r}, which polars refuses; rename one of them"
        )
    return shape(answer, as_=as_, decimals=decimals)


def _with_durations(answer: pa.Table) -> pa.Table:
    """Replace intervals, which pandas holds as objects and polars refuses; a month has 30 days, as DuckDB counts."""
    for place, field in enumerate(answer.schema):
        if pa.types.is_interval(field.type):
            spans = [
                None if span is None else timedelta(30 * span.months + span.days, microseconds=span.nanoseconds // 1000)
                for span in answer.column(place).to_pylist()
            ]
            answer = answer.set_column(place, field.name, pa.array(spans, pa.duration("us")))
    return answer


def _with_suggestion(error: Exception, stored: Collection[str], names: Collection[str]) -> str:
    """An error of DuckDB, suggesting tables that a query can use instead of those in DuckDB's catalogue."""
    known = ", ".join(stored) or "none yet; run store.sync(net) first"
    text = " ".join(str(error).split())
    missing = _NO_TABLE.search(text)
    if missing is None:
        return f"{text.removesuffix('.')}. The store's tables: {known}"
    hint = did_you_mean(missing[1], stored) or did_you_mean(missing[1], names) or "."
    return f"the store has no table {missing[1]!r}{hint} The store's tables: {known}"


def _check_statement(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Refuse anything but one statement that reads.

    Raises:
        InputError: it is not exactly one statement, or it does more than read.
    """
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise InputError(f"the query {query[:80]!r} contains {len(statements)} statements; give one SELECT")
    kind = statements[0].type.name
    if kind not in _READING:
        raise InputError(f"the query {query[:80]!r} is not valid: {kind} does more than read; give a SELECT")


def _named(query: str, names: Sequence[str], stored: Collection[str]) -> list[str]:
    """The tables that a query reads, as DuckDB resolves them: in any case, and not CTEs of the same name.

    All that are stored, if it asks which there are.
    """
    import duckdb

    if _LISTING.match(query):
        return list(stored)
    try:
        named = {name.lower() for name in duckdb.get_table_names(query)}
    except duckdb.Error:  # a PIVOT, for example, cannot be analysed
        words = {word.lower() for word in re.findall(r"\w+", query)}
        return [name for name in names if name in stored or name in words]
    return [name for name in names if name in named]
