"""`star_export`: a store as a star schema for BI programs, with its `model.json`; `Store.export` writes it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ledgerframes.arguments import path as read_path
from ledgerframes.errors import InputError
from ledgerframes.export.exporting import Companion, Format, WrittenTable, format_of
from ledgerframes.store.star.semantic_model import write_semantic_model
from ledgerframes.store.star.star import Star
from ledgerframes.tables.star import RELATIONS, STAR
from ledgerframes.version import __version__

_log = logging.getLogger("ledgerframes.store")
MODEL: Final = "model.json"
#: The folder of the semantic model for Power BI.
TMDL: Final = "tmdl"
_KEYS: Final = (
    "A key is the first 63 bits of the SHA-256 of the natural key in UTF-8, as a whole number. The text of a natural"
    " key of several columns is their JSON array without spaces; a round is its decimal number. The key of a day is its"
    " date as a number, such as 20250303. Where a fact names nothing, its key is null."
)


def star_format(target: str | os.PathLike[str], format: Format | None) -> Format:  # noqa: A002
    """The format of a star schema.

    Raises:
        InputError: the target is one file for all tables, and not a workbook.
    """
    chosen = format_of(target, format)
    if chosen != "xlsx" and Path(target).suffix.lower() == f".{chosen}" and not Path(target).is_dir():
        raise InputError(f"{os.fspath(target)!r} is one file, and a star is several tables; name a folder")
    return chosen


@contextmanager
def star_export(star: Star, target: str | os.PathLike[str], *, format: Format, as_of: str | None) -> Iterator[Any]:  # noqa: A002
    """The tables of a star, a `model.json` with their relations, and a semantic model with tables in Parquet.

    Args:
        star: the star, which is closed afterwards.
        target: its folder or workbook.
        format: the format of the tables.
        as_of: the name of the store's state, if it is an older one.

    Yields:
        The arguments of `export_tables` for them.

    Raises:
        InputError: the target cannot be written.
    """
    import duckdb

    def write(written: Sequence[WrittenTable], paths: Mapping[str, Path]) -> None:
        model = _model(star, written, as_of)
        text = json.dumps(model, ensure_ascii=False, indent=1) + "\n"
        paths[MODEL].write_text(text, encoding="utf-8", newline="")
        if TMDL in paths:
            write_semantic_model(paths[TMDL], model, Path(read_path(target, "path")).absolute())

    # A workbook is chosen by its name, not by its folder, where a star as files may stay.
    older = () if format == "xlsx" else _files_of(Path(read_path(target, "path")) / MODEL)
    companion = Companion((MODEL, TMDL) if format == "parquet" else (MODEL,), write, older)
    provenance = {"source": star.url, "model": "star", "as_of": as_of}
    try:
        with closing(star):
            yield {"sources": star.sources(), "provenance": provenance, "companion": companion}
    except (OSError, duckdb.IOException) as error:  # DuckDB spills to disk what does not fit into memory
        raise InputError(f"cannot write {os.fspath(target)!r}: {error}; name another place or make room") from error
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    for why in dict.fromkeys(star.left_out.values()):
        tables = ", ".join(name for name, its in star.left_out.items() if its == why)
        _log.warning("left out: %s (%s)", tables, why)


def _files_of(model: Path) -> tuple[str, ...]:
    """The files that an earlier export of a star wrote next to its `model.json`; none if that is no star's."""
    try:
        content = json.loads(model.read_text(encoding="utf-8"))
        files = [table["file"] for table in content["tables"]] if content["model"] == "star" else []
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    parquet, csv = ([name + ending for name in STAR if name + ending in files] for ending in (".parquet", ".csv"))
    return (*csv, *parquet, *([TMDL] if parquet else []))


def _model(star: Star, written: Sequence[WrittenTable], as_of: str | None) -> dict[str, Any]:
    """The contents of `model.json`."""
    names = {table.name for table in written}
    return {
        "model": "star",
        "version": __version__,
        "source": star.url,
        "as_of": as_of,
        "keys": _KEYS,
        "tables": [
            {
                "name": table.name,
                "kind": table.name.partition("_")[0].replace("dim", "dimension"),
                "meaning": STAR[table.name].meaning,
                "file": Path(table.place).name,
                "rows": table.rows,
                "key": list(STAR[table.name].key),
                "reaches": [str(interval) for interval in star.reach(table.name)],
                "columns": [_column(field) for field in table.schema],
            }
            for table in written
        ],
        "relations": [asdict(relation) for relation in RELATIONS if relation.table in names and relation.to in names],
        "left_out": star.left_out,
        "not_understood": star.not_understood,
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
