"""The tables about the tables: `tables()` and `describe()`."""

from __future__ import annotations

import pandas as pd

from ledgerframes.showing import Reference
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED


def tables() -> pd.DataFrame:
    """List every table: name, meaning, key, number of columns, and the endpoints or the function it comes from.

    Returns:
        One row per table: table, meaning, key, columns (their number), endpoints.

    Example:
        >>> tables().table[0]
        'updates'
    """
    return Reference(
        [
            {
                "table": table.name,
                "meaning": table.meaning,
                "key": ", ".join(table.key),
                "columns": len(table.columns),
                "endpoints": ", ".join(table.endpoints),
            }
            for table in (*CATALOGUE.values(), *COMPUTED.values())
        ]
    )


def describe(table: str) -> pd.DataFrame:
    """Describe a table's columns: name, kind, unit, whether it may be null, meaning, source.

    Args:
        table: the table's name.

    Returns:
        One row per column, in the table's order: column, kind, unit, nullable, meaning, source.

    Raises:
        InputError: there is no such table.

    Example:
        >>> import ledgerframes as lf
        >>> lf.describe("updates").columns.to_list()
        ['column', 'kind', 'unit', 'nullable', 'meaning', 'source']
    """
    return Reference(
        [
            {
                "column": column.name,
                "kind": column.kind.name,
                "unit": column.unit,
                "nullable": column.nullable,
                "meaning": column.meaning,
                "source": column.source,
            }
            for column in table_named(table, CATALOGUE | COMPUTED).columns
        ]
    )
