"""What it takes to start a sandbox, of its default length and of 100,000 updates; time limits are the baseline."""

from __future__ import annotations

import time

from ledgerframes.sandbox.server import start
from tests.benchmarks.measuring import Row

LIMITS = {2_000: 2_000.0, 100_000: 10_000.0}


def rows() -> list[Row]:
    """One row a length: from the call of `start` until it answers, in this interpreter."""
    return [
        Row(
            what=f"sandbox with {updates:,} updates",
            ours=_started(updates),
            baseline="the time it may take",
            theirs=limit,
            aim=1.0,
        )
        for updates, limit in LIMITS.items()
    ]


def _started(updates: int) -> float:
    begin = time.perf_counter()
    with start(updates=updates):
        return (time.perf_counter() - begin) * 1e3
