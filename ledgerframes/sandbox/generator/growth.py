"""A thread that adds updates to a simulated ledger at a steady rate; the server starts it."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Final

SHORTEST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 1.0
# After a pause of the machine, the ledger catches up in steps.
LARGEST_STEP: Final = 50

_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3_600.0}
_RATE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)/(s|min|h)", re.ASCII)

logger = logging.getLogger("ledgerframes.sandbox")


def parse_rate(text: str) -> float:
    """Read a rate such as `50/s`, `90/min` or `0.5/h` as updates per second.

    Raises:
        ValueError: it is not a rate above zero.
    """
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    rate = float(match[1]) / _UNITS[match[2]] if match else 0.0
    if rate <= 0:
        raise ValueError(f"live={text!r} is not valid: give updates per second, minute or hour, such as 50/s or 90/min")
    return rate


class LedgerGrowth:
    """A ledger that grows at a rate until it is stopped.

    Args:
        advance: adds a number of updates.
        rate: updates per second.
    """

    def __init__(self, advance: Callable[[int], None], *, rate: float) -> None:
        self._advance = advance
        self._rate = rate
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sandbox growth", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the growth and wait for the last step to end. A second call does nothing."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        begin, done = time.monotonic(), 0
        pause = min(max(1 / self._rate, SHORTEST_PAUSE), LONGEST_PAUSE)
        while not self._end.wait(pause):
            # As many as the rate requires, in steps that leave readers a turn.
            step = max(0, min(int((time.monotonic() - begin) * self._rate) - done, LARGEST_STEP))
            try:
                self._advance(step)
            except Exception:
                logger.exception("the ledger stopped growing after %d updates", done)
                return
            done += step
