"""`Store.report`: a page about a lake."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerframes.paging.cursor import Bound, Duration
from ledgerframes.store.sync.report import AsOf

if TYPE_CHECKING:
    from ledgerframes.store.store import Store


def report(
    self: Store,
    path: str | os.PathLike[str] = "report.html",
    *,
    title: str = "Ledger report",
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    as_of: AsOf | None = None,
    sections: Sequence[str] | None = None,
    allow_partial: bool = False,
    overwrite: bool = False,
    interactive: bool = False,
) -> Path:
    """Write one HTML page about the lake, as `lf.report(store, path)` does.

    Args:
        self: the lake.
        path: the file.
        title: its heading.
        start: inclusive, in UTC; a time, or a pair (migration id, time).
        end: exclusive.
        last: `"7d"`, `"24h"`, a timedelta; back from the end of the lake's history, instead of `start`.
        as_of: the state that a sync left, by its id or a time.
        sections: the sections, in order; all by default.
        allow_partial: use the available part of the range.
        overwrite: replace an existing page.
        interactive: zoomable charts.

    Returns:
        The file.

    Raises:
        InputError: an option is not valid, or the file exists or cannot be written.
        PartialResultError: the lake does not cover the range.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder + "/lake")
        ...     _ = store.sync(net)
        ...     store.report(folder + "/report.html", sections=["summary"]).name
        'report.html'
    """
    import ledgerframes  # the page imports layers above a lake

    written: Path = ledgerframes.report(
        self, path, title=title, start=start, end=end, last=last, as_of=as_of, sections=sections,
        allow_partial=allow_partial, overwrite=overwrite, interactive=interactive,
    )  # fmt: skip
    return written
