"""`report`: the page about a store or a loaded history, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.apps.html_report.page import Charts, Section, page, scripts
from ledgerframes.apps.html_report.report_data import Period, ReportData
from ledgerframes.apps.html_report.sections import SECTIONS
from ledgerframes.arguments import duration, flag, names, suggesting
from ledgerframes.arguments import path as read_path
from ledgerframes.errors import InputError
from ledgerframes.export.atomic_write import refuse_taken, write_text, writing
from ledgerframes.frames import attrs_of, shape, to_arrow
from ledgerframes.loaders.history import History
from ledgerframes.models.computing import Incomplete
from ledgerframes.paging.cursor import Bound, Cursor, Duration, bound
from ledgerframes.plot.drawing import need_plotly
from ledgerframes.stopping import Stop, held_back
from ledgerframes.store.store import Store
from ledgerframes.tables.catalogue import table_named
from ledgerframes.timestamps import EPOCH, MICROSECOND
from ledgerframes.version import __version__


@suggesting
def report(
    data: Store | History[Any],
    path: str | os.PathLike[str] = "report.html",
    *,
    title: str = "Ledger report",
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    as_of: int | str | date | datetime | None = None,
    sections: Sequence[str] | None = None,
    allow_partial: bool = False,
    overwrite: bool = False,
    interactive: bool = False,
) -> Path:
    """Write a one-page HTML report: key figures, tables, charts and data lineage.

    The page needs no other file and no network, follows the reader's light or dark theme, and can be printed. Figures
    of a store are compared with the period of the same length before, where the store knows it.

    Args:
        data: a store, or what `load_history` gave.
        path: the file.
        title: its heading.
        start: for a store: inclusive, in UTC; a time, or a pair (migration id, time).
        end: for a store: exclusive.
        last: for a store: `"7d"`, `"24h"`, a timedelta; back from the end of the store's history, instead of `start`.
        as_of: for a store: the state that a sync left, by its id, the number of its document or a time.
        sections: which parts, in order: summary, activity, flows, holdings, balances, transfers, rewards, coin_supply,
            burn, key_figures, governance, licenses, supply, templates, anomalies, provenance; all by default. A section
            that cannot be made has the reason.
        allow_partial: for a store: use the available part of the range.
        overwrite: replace an existing page.
        interactive: charts of updates, reassignments, balances, rewards and supply to zoom into, with whole ids under
            the pointer. The page still needs no other file and no network: it holds plotly.js, about 5 MB. It needs
            the extra `interactive`.

    Returns:
        The file.

    Raises:
        InputError: an argument breaks a rule, or the file is there or cannot be written.
        PartialResultError: the store does not cover the range.
        ConfigurationError: interactive=True without plotly.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     lf.report(lf.load_history(net), folder + "/report.html", sections=["provenance"]).name
        'report.html'
    """
    chosen = list(SECTIONS) if sections is None else list(names(sections, "sections"))
    for name in chosen:
        if name not in SECTIONS:
            raise InputError(f"sections: {name!r} is not a section; there are {', '.join(SECTIONS)}")
    overwrite, allow_partial = flag(overwrite, "overwrite"), flag(allow_partial, "allow_partial")
    if interactive := flag(interactive, "interactive"):
        need_plotly()
    if not isinstance(data, Store) and not (isinstance(data, tuple) and len(data) == len(History._fields)):
        raise InputError(
            f"give a Store or a History, not a {type(data).__name__}; lf.open_store or lf.load_history returns one"
        )
    target = Path(read_path(path, "path"))
    if target.suffix.lower() == ".pdf":
        raise InputError(f"{str(target)!r}: a report is a page of HTML; write one, and print it to PDF in the browser")
    stop, incomplete = Stop(), Incomplete()
    # While rows are read and charts are drawn, Python may drop what a signal's handler raises.
    with held_back(stop.set):
        with writing(target):
            if target.is_dir() and not target.is_symlink():
                raise InputError(f"{str(target)!r} is a folder; name the file for the page")
            refuse_taken(target, overwrite=overwrite)
        if isinstance(data, Store):
            report_data = stored_report_data(data, start, end, last, as_of, allow_partial=allow_partial)
        else:
            if start is not None or end is not None or as_of is not None or last is not None:
                raise InputError(
                    "start=, end=, last= and as_of= are for a store; a History is always reported whole, so leave them"
                    " out"
                )
            one, two, three = (_pandas(frame, name) for frame, name in zip(data, History._fields, strict=True))
            report_data = ReportData(one, {"events": two, "reassignments": three}.__getitem__)
        made = f"made {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by ledgerframes {__version__}"
        head, foot = scripts() if interactive else ("", "")
        made += f", interactive, with plotly.js ({len(head + foot) / 1e6:.1f} MB) inside" if interactive else ""
        with Charts(interactive=interactive) as charts:
            report_data = replace(report_data, charts=charts, stop=stop, incomplete=incomplete)
            parts: dict[str, Section] = {}
            with report_data.opened:
                # The summary last: it needs the most and has no chart, and the other sections' are drawn meanwhile.
                for name in sorted(chosen, key="summary".__eq__):
                    stop.check()
                    parts[name] = SECTIONS[name](report_data)
            words = charts.into(page(title, made, [parts[name] for name in chosen], head=head, foot=foot), stop)
        stop.check()
        write_text(target, words, overwrite=overwrite)
    incomplete.warn("the page says what its figures lack")
    return target


def stored_report_data(
    store: Store,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    as_of: Any = None,
    *,
    allow_partial: bool = False,
) -> ReportData:
    """The data of a store in the range, and its period."""
    store = store._pinned(as_of)  # noqa: SLF001 - all of a report is of one state
    options: dict[str, Any] = {"end": end, "allow_partial": allow_partial}
    updates = store.load("updates", start=start, last=last, **options)
    if last is not None:
        start = pd.Timestamp(updates.attrs["counted_from"]) - pd.Timedelta(
            duration(last, "last", bare=False), unit="us"
        )
    read = partial(store.load, start=start, **options)
    place = bound(None if isinstance(start, str) and start == "begin" else start, "start", up=True)
    until = bound(end, "end", up=True)
    # Nothing is read beyond `end`, so a period needs no end where that is a place of one migration.
    period = Period(_moment(place), None if isinstance(until, Cursor) else _moment(until))
    begins = start if isinstance(place, Cursor) and not _by_time(store, period, updates, end) else None
    period = period if begins is None else Period()
    return ReportData(updates, read, store, period, end, begins)


def _by_time(store: Store, period: Period, updates: pd.DataFrame, end: Any) -> bool:
    """Whether a range from a place of one migration has what all migrations have from its time on."""
    from_then = store.load("updates", columns=["update_id"], start=period.start, end=end, allow_partial=True)
    return len(from_then) == len(updates) and set(from_then["update_id"]) == set(updates["update_id"])


def _moment(place: Cursor | int | None) -> pd.Timestamp | None:
    """The record time of a bound."""
    if place is None:
        return None
    return pd.Timestamp(EPOCH + (place.micros if isinstance(place, Cursor) else place) * MICROSECOND)


def _pandas(frame: Any, name: str) -> Any:
    table = table_named(name)
    if isinstance(frame, pd.DataFrame):
        return frame
    return shape(to_arrow(frame, table, table.names), table, attrs=attrs_of(frame))
