"""Rounds in bars and in words; called by charts over rounds."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.number_format import count_text, plural
from ledgerframes.plot.contents import Floats
from ledgerframes.plot.time_bins import Bins

_MOST_ROUNDS: Final = 120


def grouped(numbers: Floats, whole: pd.Series | None) -> Bins:
    """Put rounds together, so that there are 120 bars at the most; a cut one ends where the rounds do.

    Those of which rounds are missing at the ends, and those with a round that is not whole, are partial.

    Args:
        numbers: of the rounds, in order.
        whole: whether each is whole, where that is known.
    """
    low, high = numbers[0], numbers[-1]
    sizes = (step * 10**power for power in range(18) for step in (1, 2, 5))
    size = next(size for size in sizes if high // size - low // size < _MOST_ROUNDS)
    first = np.arange(low // size * size, high + 1, size)
    place, last = np.searchsorted(first, numbers, side="right") - 1, first + size - 1
    cut = ({0} if low > first[0] else set()) | ({len(first) - 1} if high < last[-1] else set())
    if whole is not None:
        cut |= {*place[whole.fillna(1).to_numpy(int) != 1].tolist()}
    spans = (f"round {a:.0f}" if a == b else f"rounds {a:.0f} to {b:.0f}" for a, b in zip(first, last, strict=True))
    edges = np.clip(np.append(first, last[-1] + 1) - 0.5, low - 0.5, high + 0.5)
    name = "round" if size == 1 else f"{count_text(size)} rounds"
    return Bins(edges, name, tuple(spans), frozenset(cut))


def rounds_text(numbers: Floats) -> str:
    """How many rounds, and which."""
    first, last = f"{numbers[0]:.0f}", f"{numbers[-1]:.0f}"
    return f"round {first}" if first == last else f"{plural(len(numbers), 'round')}, {first} to {last}"
