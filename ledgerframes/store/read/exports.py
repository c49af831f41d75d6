"""`Store.export`: stored tables as files that other programs read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ledgerframes.arguments import choice, flag, names, shown, suggesting
from ledgerframes.errors import InputError, StoreError
from ledgerframes.export.exporting import Format, Layout, Profile, export_tables
from ledgerframes.export.report import ExportReport
from ledgerframes.export.shape import Times
from ledgerframes.paging.cursor import Bound, Duration, wanted_window
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.derive.tables import DERIVED_TABLES, OPEN_CONTRACTS
from ledgerframes.store.read.reading import Part
from ledgerframes.store.read.windows import lake_window, require
from ledgerframes.store.star.exporting import star_export, star_format
from ledgerframes.store.star.star import Star
from ledgerframes.store.stored_tables import STORED, declared, set_of
from ledgerframes.store.sync.report import AsOf

if TYPE_CHECKING:
    from ledgerframes.store.root import Root
    from ledgerframes.store.store import Store


@suggesting
def export(
    self: Store,
    path: str | os.PathLike[str],
    *,
    tables: Iterable[str] | None = None,
    format: Format | None = None,  # noqa: A002 - the word that pandas, polars and Delta use
    profile: Profile | None = None,
    layout: Layout = "file",
    times: Times = "us",
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    as_of: AsOf | None = None,
    allow_partial: bool = False,
    overwrite: bool = False,
    personal: bool = False,
    model: Literal["star"] | None = None,
) -> ExportReport:
    """Write stored tables to files that other programs read; docs/bi.md shows how to open them.

    Args:
        self: the store.
        path: a folder, or a file whose ending names the format; see `lf.export`.
        tables: their names; by default all that exist. A range selects the rows of the history and of computed
            tables, as in `load`; snapshots are exported whole.
        format: see `lf.export`, as for `profile`, `layout`, `times` and `overwrite`.
        profile: `"bi"` for programs without lists and exact decimals, the default of a star unless `"exact"` is given.
        layout: `"file"`, one per table, or `"hive"`: folders by migration id and month.
        times: `"us"` or `"ms"`.
        start: see `load`, as for `end`, `last`, `as_of` and `allow_partial`.
        end: exclusive.
        last: counts back from the end of the stored history.
        as_of: an older state.
        allow_partial: export a history with gaps.
        overwrite: replace existing files.
        personal: keep personal data, which is otherwise left out; see `lf.export`.
        model: `"star"` writes facts and dimensions for Power BI and Tableau instead of the tables, with their relations
            in `model.json` and as TMDL; docs/star.md describes them. It covers the whole history, so it takes no
            `tables`, `start`, `end`, `last` or `layout="hive"`. Computed tables that the store does not keep are
            computed for it.

    Returns:
        A report of the written files.

    Raises:
        InputError: an argument breaks a rule, or the files cannot be written.
        PartialResultError: the range is not fully covered.
        StoreError: there is no table, or model="star" and there is no history, or two natural keys have one key.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     store.export(folder + "/csv", tables=["updates"], format="csv").rows
        50
    """
    if model is not None:
        choice(model, "model", ["star"])
        _refuse_with_model(tables=tables, start=start, end=end, last=last, layout=None if layout == "file" else layout)
        form, older = star_format(path, format), None if as_of is None else str(as_of)
        star = Star(self._lake.existing(as_of), self._lake.url, allow_partial=flag(allow_partial, "allow_partial"))
        with star_export(star, path, format=form, as_of=older) as contents:
            return export_tables(
                target=path, format=form, profile=profile or "bi", times=times, overwrite=overwrite,
                personal=flag(personal, "personal"), **contents,
            )  # fmt: skip
    wanted_window(start, end, last, now=0)  # refuses what is not valid before anything is read
    chosen = None if tables is None else names(tables, "tables")
    root = self._lake.existing(as_of)
    sources = _sources(
        root, self._lake.url, chosen, (start, end, last), allow_partial=allow_partial,
        personal=flag(personal, "personal"),
    )  # fmt: skip
    return export_tables(
        sources, path, format=format, profile=profile, layout=layout, times=times, overwrite=overwrite,
        provenance={"source": self._lake.url, "as_of": as_of and str(as_of)}, personal=personal,
    )  # fmt: skip


def _refuse_with_model(**arguments: object) -> None:
    """Refuse arguments that do not apply to a model.

    Raises:
        InputError: one of the arguments is given.
    """
    for name, value in arguments.items():
        if value is not None:
            raise InputError(
                f'{name}={shown(value)} is not valid with model="star", which has tables of its own, for the whole'
                f" history; leave {name}= out, or leave model= out"
            )


def _sources(
    root: Root,
    url: str,
    tables: Sequence[str] | None,
    bounds: tuple[Bound | None, Bound | None, Duration | None],
    *,
    allow_partial: bool,
    personal: bool = False,
) -> dict[str, Callable[[], pa.RecordBatchReader]]:
    """The input of an export: each table's rows in batches, opened when its turn comes; snapshots whole."""
    if personal and any(table.impersonal for table in root.stored.values()):
        raise InputError("personal=True: this store was created without personal data; leave personal out")
    sources: dict[str, Callable[[], pa.RecordBatchReader]] = {}
    every = [name for name in root.stored if name != OPEN_CONTRACTS.name]
    if not every and tables is None:
        raise StoreError(f"{url}: there is no table to export; sync it first: store.sync(net)")
    for name in every if tables is None else tables:
        declared(name)
        if name not in STORED:
            raise InputError(f"tables: {name!r} is not exported; the store has {', '.join(every) or 'no table yet'}")
        require(root, name, url)
        ranged = name in DERIVED_TABLES or set_of(name) is not None
        window = lake_window(root, name, *(bounds if ranged else (None, None, None)))
        part = Part.of(root, name, window.wanted, allow_partial=allow_partial)
        sources[name] = partial(_rows, part, part.attrs(url, window))
    return sources


def _rows(part: Part, attrs: dict[str, Any]) -> pa.RecordBatchReader:
    """The rows of a table, with their provenance, as those have that `load` returns."""
    with damage_named([part.table]):
        attrs = attrs | {"table": part.table.name, "rows": part.dataset.count_rows()}
    return part.batches({b"ledgerframes": json.dumps(attrs).encode()})
