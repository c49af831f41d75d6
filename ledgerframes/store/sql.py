"""SQL over a store's tables by DuckDB; `Store.sql` calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ledgerframes.arguments import text
from ledgerframes.errors import InputError
from ledgerframes.loaders.frames import As, check_shape

if TYPE_CHECKING:
    import pyarrow.dataset as ds


def ask(
    query: str, dataset: Callable[[str], ds.Dataset], names: Sequence[str], *, as_: As, parameters: Sequence[Any] | None
) -> Any:
    """Run one query; only those tables that it names are opened.

    Args:
        query: DuckDB's SQL.
        dataset: gives a table by name.
        names: the tables there are.
        as_: the form of the result.
        parameters: values for `?`.

    Raises:
        InputError: DuckDB is not installed, or the query is wrong.
    """
    check_shape(as_, "object")
    text(query, "query", "one statement as text")
    try:
        import duckdb
    except ImportError as error:
        raise InputError("store.sql needs DuckDB; install it with: pip install 'ledgerframes[duckdb]'") from error
    with duckdb.connect() as connection:
        try:
            connection.execute("SET TimeZone = 'UTC'")
            for name in names:
                if name in query:
                    connection.register(name, dataset(name))
            found = connection.sql(query, params=parameters)
            if found is None:
                raise InputError(f"the query {query[:80]!r} gives no rows; write a SELECT")
            found = found.to_arrow_table()
        except duckdb.Error as error:
            known = ", ".join(names) or "none yet; run store.sync(net) first"
            said = " ".join(str(error).split())
            raise InputError(f"the query cannot be run: {said}. The store's tables: {known}") from error
    if as_ == "arrow":
        return found
    if as_ == "polars":
        import polars as pl

        return pl.from_arrow(found)
    return found.to_pandas()
