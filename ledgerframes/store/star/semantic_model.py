"""The semantic model of a star as a folder of TMDL, which Power BI opens: tables, relations, location of the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_SORTED_BY: Final = {"month_name": "month", "weekday_name": "weekday"}
#: Units of amounts and counts that add up over rows and days; prices, parties, rounds and ratios have others or none.
_ADDS_UP: Final = ("coin", "USD", "bytes", "updates", "events", "outputs", "coupons")
#: The types of TMDL by the beginnings of Arrow's; all others are text.
_TYPES: Final = {
    ("int", "uint"): "int64", ("bool",): "boolean", ("time", "date"): "dateTime",
    ("double", "float", "decimal"): "double",
}  # fmt: skip
_DATABASE: Final = "database\n\tcompatibilityLevel: 1567\n"


def write_semantic_model(folder: Path, model: Mapping[str, Any], final: Path) -> None:
    """Write the semantic model.

    Args:
        folder: created here.
        model: the content of `model.json`, of tables in Parquet.
        final: their final location; a parameter that a reader changes once the files have moved.
    """
    (folder / "tables").mkdir(parents=True)
    head = "model Model\n\tculture: en-US\n\tdefaultPowerBIDataSourceVersion: powerBI_V3\n\n"
    place = f"{final}{'' if str(final).endswith(('/', chr(92))) else '/'}"
    # In a text of M a quote is written twice, and `#(` begins an escape.
    place = '"' + place.replace("#(", "#(#)(").replace('"', '""') + '"'
    meta = '[IsParameterQuery=true, Type="Text", IsParameterQueryRequired=true]'
    texts = {
        "database.tmdl": _DATABASE,
        "model.tmdl": head + "".join(f"ref table {name}\n" for name in sorted(one["name"] for one in model["tables"])),
        "expressions.tmdl": f"/// The folder that holds the files.\nexpression Folder = {place} meta {meta}\n",
        "relationships.tmdl": "\n".join(
            f"relationship {relation['table']}_{relation['column']}\n"
            f"{'' if relation['active'] else chr(9) + 'isActive: false' + chr(10)}"
            f"\tfromColumn: {relation['table']}.{relation['column']}\n"
            f"\ttoColumn: {relation['to']}.{relation['to_column']}\n"
            for relation in model["relations"]
        ),
    }
    texts |= {f"tables/{table['name']}.tmdl": _table(**table) for table in model["tables"]}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _table(*, name: str, meaning: str, file: str, columns: list[Mapping[str, Any]], **_: object) -> str:
    lines = [f"/// {meaning}", f"table {name}"]
    lines += ["\tdataCategory: Time"] if name == "dim_date" else []
    for column in columns:
        lines += ["", *_column(name, column)]
    lines += ["", f"\tpartition {name} = m", "\t\tmode: import", "\t\tsource =", "\t\t\t\tlet"]
    lines += [
        f'\t\t\t\t\tSource = Parquet.Document(File.Contents(Folder & "{file}"))',
        "\t\t\t\tin",
        "\t\t\t\t\tSource",
    ]
    return "\n".join(lines) + "\n"


def _column(table: str, column: Mapping[str, Any]) -> list[str]:
    name, meaning = column["name"], column["meaning"].replace("\n", " ")
    kind = next((type_ for begins, type_ in _TYPES.items() if column["type"].startswith(begins)), "string")
    # Amounts at a moment do not add up over days.
    of_moments = table.startswith(("fact_balances", "fact_supply", "dim_"))
    sums = column["unit"] in _ADDS_UP and kind in {"double", "int64"} and not of_moments
    lines = [f"\t/// {meaning}"] if meaning else []
    lines += [f"\tcolumn {name}", f"\t\tdataType: {kind}"]
    lines += ["\t\tisHidden"] if name.endswith("_key") else []
    lines += ["\t\tisKey"] if (table, name) == ("dim_date", "date") else []
    lines += [f"\t\tsummarizeBy: {'sum' if sums else 'none'}", f"\t\tsourceColumn: {name}"]
    return [*lines, *([f"\t\tsortByColumn: {_SORTED_BY[name]}"] if name in _SORTED_BY else [])]
