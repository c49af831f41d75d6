"""The contents of `model.json`: tables, keys and relations of a star, also used for the semantic model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ledgerframes.export.exporting import WrittenTable
from ledgerframes.store.coverage import Interval
from ledgerframes.tables.star import RELATIONS, STAR
from ledgerframes.version import __version__

_KEYS: Final = (
    "A key is the first 63 bits of the SHA-256 of the natural key in UTF-8, as a whole number. The text of a natural"
    " key of several columns is their JSON array without spaces; a round is its decimal number. The key of a day is its"
    " date as a number, such as 20250303. Where a fact names nothing, its key is null."
)


def model_of(
    written: Sequence[WrittenTable],
    *,
    source: str,
    as_of: str | None,
    reach: Mapping[str, Sequence[Interval]],
    left_out: Mapping[str, str],
    not_understood: Mapping[str, int],
) -> dict[str, Any]:
    """The model of a star.

    Args:
        written: the tables as they were written.
        source: the store.
        as_of: the state of the store, if it is an older one.
        reach: the part of the history that each table was made from.
        left_out: tables that were not written, and why.
        not_understood: the number of contracts that could not be read, by template.
    """
    names = {table.name for table in written}
    return {
        "model": "star",
        "version": __version__,
        "source": source,
        "as_of": as_of,
        "keys": _KEYS,
        "tables": [_table(table, reach[table.name]) for table in written],
        "relations": [asdict(relation) for relation in RELATIONS if relation.table in names and relation.to in names],
        "left_out": dict(left_out),
        "not_understood": dict(not_understood),
    }


def _table(written: WrittenTable, reach: Sequence[Interval]) -> dict[str, Any]:
    declared = STAR[written.name]
    return {
        "name": written.name,
        "kind": written.name.partition("_")[0].replace("dim", "dimension"),
        "meaning": declared.meaning,
        "file": Path(written.place).name,
        "rows": written.rows,
        "key": list(declared.key),
        "reaches": [str(interval) for interval in reach],
        "columns": [_column(field) for field in written.schema],
    }


def _column(field: Any) -> dict[str, Any]:
    facts = {name: (field.metadata or {}).get(name.encode(), b"").decode() for name in ("description", "unit")}
    return {
        "name": field.name,
        "type": str(field.type),
        "nullable": field.nullable,
        "meaning": facts["description"],
        "unit": facts["unit"] or None,
    }
