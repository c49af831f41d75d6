"""`export_star`: a store as a star schema for BI programs; `Store.export` calls it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from ledgerframes.arguments import path as read_path
from ledgerframes.errors import InputError
from ledgerframes.export.exporting import Companion, Format, Profile, WrittenTable, export_tables, format_of
from ledgerframes.export.report import ExportReport
from ledgerframes.export.shape import Times
from ledgerframes.store.lake import Lake
from ledgerframes.store.root import Root
from ledgerframes.store.star.model import model_of
from ledgerframes.store.star.semantic_model import write_semantic_model
from ledgerframes.store.star.star import Star

_log = logging.getLogger("ledgerframes.store")
MODEL: Final = "model.json"
#: The folder of the semantic model for Power BI.
TMDL: Final = "tmdl"


def star_format(target: str | os.PathLike[str], format: Format | None) -> Format:  # noqa: A002
    """The format of a star schema.

    Raises:
        InputError: the target is one file for all tables, and not a workbook.
    """
    chosen = format_of(target, format)
    if chosen != "xlsx" and Path(target).suffix.lower() == f".{chosen}" and not Path(target).is_dir():
        raise InputError(f"{os.fspath(target)!r} is one file, and a star is several tables; name a folder")
    return chosen


def export_star(
    lake: Lake,
    root: Root,
    target: str | os.PathLike[str],
    *,
    format: Format,  # noqa: A002 - the word that pandas, polars and Delta use
    profile: Profile | None,
    times: Times,
    overwrite: bool,
    allow_partial: bool,
    as_of: str | None,
    personal: bool,
    key_bits: int = 63,
) -> ExportReport:
    """Write the tables of a star, a `model.json` with their relations, and a semantic model; all or nothing.

    Args:
        lake: the store.
        root: its state.
        target: see `lf.export`, like the others.
        format: see `lf.export`.
        profile: see `lf.export`; by default `"bi"`.
        times: see `lf.export`.
        overwrite: see `lf.export`.
        allow_partial: export a history with gaps.
        as_of: the name of the state, if it is an older one.
        personal: keep personal data; the star has none in columns of its own.
        key_bits: the number of bits per key; shorter ones collide.

    Raises:
        InputError: the target cannot be written.
        StoreError: there is no history, or two natural keys have one key.
        PartialResultError: the history has gaps.
    """
    import duckdb

    star = Star(root, lake.url, allow_partial=allow_partial, key_bits=key_bits)

    def write(written: Sequence[WrittenTable], paths: Mapping[str, Path]) -> None:
        model = model_of(
            written,
            source=lake.url,
            as_of=as_of,
            reach={table.name: star.reach(table.name) for table in written},
            left_out=star.left_out,
            not_understood=star.not_understood,
        )
        text = json.dumps(model, ensure_ascii=False, indent=1) + "\n"
        paths[MODEL].write_text(text, encoding="utf-8", newline="")
        if TMDL in paths:
            write_semantic_model(paths[TMDL], model, Path(read_path(target, "path")).absolute())

    names = (MODEL, TMDL) if format == "parquet" else (MODEL,)
    provenance: dict[str, Any] = {"source": lake.url, "model": "star", "as_of": as_of}
    try:
        with closing(star):
            report = export_tables(
                star.sources(), target, format=format, profile=profile or "bi", times=times, overwrite=overwrite,
                provenance=provenance, personal=personal, companion=Companion(names, write),
            )  # fmt: skip
    except (OSError, duckdb.IOException) as error:  # DuckDB spills to disk what does not fit into memory
        raise InputError(f"cannot write {os.fspath(target)!r}: {error}; name another place or make room") from error
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    for why in dict.fromkeys(star.left_out.values()):
        tables = ", ".join(name for name, its in star.left_out.items() if its == why)
        _log.warning("left out: %s (%s)", tables, why)
    return report
