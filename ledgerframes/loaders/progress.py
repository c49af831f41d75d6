"""Progress of a load: a bar on a terminal or in a notebook, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

_log = logging.getLogger("ledgerframes.progress")
# Often enough for a log to show that a load of hours is alive, and rare enough not to fill it.
_EVERY = 30.0


class Progress(Protocol):
    """The display of a running load's progress."""

    def advance(self, rows: int, note: str, share: float | None = None) -> None:
        """Count more rows; the note is the record time reached, `share` the part of the range before it, if known."""


@contextmanager
def progress_of(
    what: str,
    *,
    shown: bool | None,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    unit: str = "updates",
) -> Iterator[Progress]:
    """A progress display for the time of a load.

    Args:
        what: the name of the data being loaded.
        shown: True for a bar, False for nothing, None for a bar on a terminal or in a notebook and log lines elsewhere.
        total: the number of rows, if known.
        clock: seconds, by which log lines are spaced.
        unit: the name of a row.
    """
    if shown is False:
        yield _Silent()
        return
    # Looked up, not imported: without a notebook, importing IPython would only cost time.
    shell = sys.modules.get("IPython")
    notebook = shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
    if shown or notebook or sys.stderr.isatty():
        # Imported only when a bar is shown, to keep `import ledgerframes` fast.
        from tqdm.auto import tqdm

        with tqdm(total=total, unit=f" {unit}", desc=what, unit_scale=True, leave=False) as bar:
            yield _Bar(bar)
        return
    yield _Lines(what, clock, began=clock())


class _Silent:
    def advance(self, rows: int, note: str, share: float | None = None) -> None:
        del rows, note, share


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._has_total = bar.total is not None

    def advance(self, rows: int, note: str, share: float | None = None) -> None:
        self._bar.set_postfix_str(note, refresh=False)
        if share and not self._has_total:
            # With a total, a bar shows percent and the time that remains; rows are about as dense in all of the range.
            self._bar.total = max(round((self._bar.n + rows) / min(share, 1.0)), self._bar.n + rows)
        self._bar.update(rows)


@dataclass
class _Lines:
    what: str
    clock: Callable[[], float]
    began: float
    rows: int = 0
    logged: float = 0.0  # seconds after the beginning

    def advance(self, rows: int, note: str, share: float | None = None) -> None:
        self.rows += rows
        passed = self.clock() - self.began
        if passed - self.logged >= _EVERY:
            self.logged = passed
            part = "" if not share else f" ({min(share, 1.0):.0%}, {_left(passed, share)})"
            _log.info("%s: %d so far%s, at %s", self.what, self.rows, part, note)


def _left(seconds: float, share: float) -> str:
    """An estimate of the remaining time, from the progress so far."""
    minutes = seconds * max(1 / share - 1, 0) / 60
    return f"{minutes:,.0f} minutes left" if minutes >= 1 else "under a minute left"
