"""The semantic model of a star as a folder of TMDL, which Power BI opens: tables, relations, location of the files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ledgerframes.export.exporting import WrittenTable
from ledgerframes.tables.star import RELATIONS, STAR

_SORTED_BY: Final = {"month_name": "month", "weekday_name": "weekday"}
#: Units of amounts that add up over rows and days; prices, weights, shares and ratios have others or none.
_ADDS_UP: Final = (b"coin", b"USD")
_DATABASE: Final = "database\n\tcompatibilityLevel: 1567\n"


def write_semantic_model(folder: Path, written: Sequence[WrittenTable], final: Path) -> None:
    """Write the semantic model.

    Args:
        folder: created here.
        written: the tables as they were written, in Parquet.
        final: their final location; a parameter that a reader changes once the files have moved.
    """
    names = {table.name for table in written}
    (folder / "tables").mkdir(parents=True)
    model = "model Model\n\tculture: en-US\n\tdefaultPowerBIDataSourceVersion: powerBI_V3\n\n"
    model += "".join(f"ref table {name}\n" for name in sorted(names))
    place = json.dumps(f"{final}{'' if str(final).endswith(('/', chr(92))) else '/'}", ensure_ascii=False)
    place = place.replace("\\\\", "\\")  # M escapes no backslash
    meta = '[IsParameterQuery=true, Type="Text", IsParameterQueryRequired=true]'
    relations = [relation for relation in RELATIONS if relation.table in names and relation.to in names]
    texts = {
        "database.tmdl": _DATABASE,
        "model.tmdl": model,
        "expressions.tmdl": f"/// The folder that holds the files.\nexpression Folder = {place} meta {meta}\n",
        "relationships.tmdl": "\n".join(
            f"relationship {relation.table}_{relation.column}\n"
            f"{'' if relation.active else chr(9) + 'isActive: false' + chr(10)}"
            f"\tfromColumn: {relation.table}.{relation.column}\n\ttoColumn: {relation.to}.{relation.to_column}\n"
            for relation in relations
        ),
    }
    texts |= {f"tables/{table.name}.tmdl": _table(table) for table in written}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _table(written: WrittenTable) -> str:
    lines = [f"/// {STAR[written.name].meaning}", f"table {written.name}"]
    lines += ["\tdataCategory: Time"] if written.name == "dim_date" else []
    for field in written.schema:
        lines += ["", *_column(written.name, field)]
    file = f'Parquet.Document(File.Contents(Folder & "{written.place.name}"))'
    lines += ["", f"\tpartition {written.name} = m", "\t\tmode: import", "\t\tsource =", "\t\t\t\tlet"]
    lines += [f"\t\t\t\t\tSource = {file}", "\t\t\t\tin", "\t\t\t\t\tSource"]
    return "\n".join(lines) + "\n"


def _column(table: str, field: Any) -> list[str]:
    told = field.metadata or {}
    meaning = told.get(b"description", b"").decode().replace("\n", " ")
    is_key = field.name.endswith("_key")
    # Amounts at a moment do not add up over days.
    of_moments = table.startswith(("fact_balances", "fact_supply", "dim_"))
    sums = told.get(b"unit") in _ADDS_UP and _kind(field.type) == "double" and not of_moments
    lines = [f"\t/// {meaning}"] if meaning else []
    lines += [f"\tcolumn {field.name}", f"\t\tdataType: {_kind(field.type)}"]
    lines += ["\t\tisHidden"] if is_key else []
    lines += ["\t\tisKey"] if (table, field.name) == ("dim_date", "date") else []
    lines += [f"\t\tsummarizeBy: {'sum' if sums else 'none'}", f"\t\tsourceColumn: {field.name}"]
    return [*lines, *([f"\t\tsortByColumn: {_SORTED_BY[field.name]}"] if field.name in _SORTED_BY else [])]


def _kind(type_: Any) -> str:
    if pa.types.is_integer(type_):
        return "int64"
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_temporal(type_):
        return "dateTime"
    return "double" if pa.types.is_floating(type_) or pa.types.is_decimal(type_) else "string"
