"""Writes the data dictionary in `data/dictionary.md` from the tables' declarations: `python -m docs.dictionary`."""

from pathlib import Path

from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.kinds import AMOUNT, BOOL, DURATION, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Table

PAGE = Path(__file__).resolve().parents[1] / "data" / "dictionary.md"
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


def page() -> str:
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
