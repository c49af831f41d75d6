"""How a figure is measured, and the row it becomes; every benchmark calls it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 9


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        what: the thing measured, and on what.
        ours: its figure, the median.
        baseline: the name of what it is compared with.
        theirs: the baseline's figure, in the same unit.
        unit: "ms" or "MB".
        aim: the ratio hoped for; None where there is only something to watch.
        size: bytes of input in a round, for MB/s.
        skipped: why there are no figures.
    """

    what: str
    baseline: str
    ours: float = 0.0
    theirs: float = 0.0
    unit: str = "ms"
    aim: float | None = None
    size: int = 0
    skipped: str = ""

    @property
    def ratio(self) -> float:
        """How many times better than the baseline; for times and for memory, less is better."""
        return self.theirs / self.ours if self.ours else 0.0

    @property
    def below(self) -> bool:
        """Whether there is an aim that was missed."""
        return self.aim is not None and not self.skipped and self.ratio < self.aim

    @property
    def speed(self) -> float | None:
        """Megabytes a second of ours, if a size is known."""
        return self.size / 1e3 / self.ours if self.size and self.ours and self.unit == "ms" else None


Clock = Callable[[], float]


def side_by_side(
    sides: dict[str, Callable[[], Any]], *, rounds: int = ROUNDS, repeat: int = 1, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """Run the sides in turn, garbage collection off, and give each one's median in milliseconds.

    Args:
        sides: what to call, by name.
        rounds: how many times each side is measured, after one round that is not.
        repeat: calls in one measurement, for short ones.
        clock: what is measured: the time that passes, or `time.process_time`, that of this process's threads together.
    """
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for step in range(rounds + 1):
        for name, call in sides.items():
            spent = _timed(call, repeat, clock)
            if step:
                taken[name].append(spent)
    return {name: median(times) * 1e3 for name, times in taken.items()}


def _timed(call: Callable[[], Any], repeat: int, clock: Clock) -> float:
    gc.collect()
    gc.disable()
    try:
        start = clock()
        for _ in range(repeat):
            call()
        return (clock() - start) / repeat
    finally:
        gc.enable()


#: Why a row of memory has no figures.
UNKNOWN = "the highest use is read from /proc, which is not here"


def highest() -> int:
    """The most memory this process ever held, in bytes; unlike getrusage's figure, without its parent's.

    0 where there is no /proc, for a row that is skipped then, see `UNKNOWN`.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    lines = status.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
