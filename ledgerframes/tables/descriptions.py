"""The tables about the tables: `tables()`, `describe()`, and the data dictionary."""

from __future__ import annotations

import pandas as pd

from ledgerframes.showing import Reference
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.kinds import AMOUNT, BOOL, DURATION, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Table


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


def dictionary_text() -> str:
    """The data dictionary as Markdown: every table with its columns and their texts."""
    parts = [_HEAD, *map(_section, CATALOGUE.values()), _COMPUTED, *map(_section, COMPUTED.values())]
    return "\n".join(parts)


def _section(table: Table) -> str:
    lines = [f"## {table.name}", "", table.meaning, ""]
    lines += [f"From: {', '.join(f'`{endpoint}`' for endpoint in table.endpoints)}.", ""]
    if table.key:
        lines += [f"Key: {', '.join(f'`{name}`' for name in table.key)}.", ""]
    lines += ["| column | kind | unit | null | meaning | source |", "|---|---|---|---|---|---|"]
    for column in table.columns:
        null = "yes" if column.nullable else "no"
        texts = (column.meaning, column.source)
        meaning, source = (text.replace("|", "\\|") for text in texts)
        lines.append(f"| `{column.name}` | {column.kind.name} | {column.unit} | {null} | {meaning} | {source} |")
    return "\n".join([*lines, ""])


_COMPUTED = """# Computed from events

A source names where a value is read from or how it is computed. In one that begins with /payload or /exercise_result,
the rest is a JSON pointer into that column of the events.
"""

_HEAD = (
    """# Data dictionary

Made from the declarations in `ledgerframes/tables` by `make docs`. A source is a JSON pointer into the item that the
endpoint sends, or says how the value is worked out. The kinds:

"""
    + "\n".join(f"- {kind.name}: {kind.meaning}" for kind in (TEXT, INT64, BOOL, TIME, AMOUNT, JSON, TEXTS, DURATION))
    + "\n"
)
