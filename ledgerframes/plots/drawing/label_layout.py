"""Labels on a line moved apart as little as it takes; called by pictures that label beside what they draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def spread(wanted: Sequence[float], height: float, *, low: float, high: float) -> list[float]:
    """Centres for labels of one height, in the order given, without overlap.

    The sum of squares of the moves is the least possible. Labels that together are higher than the room are spaced
    evenly over it and overlap.

    Args:
        wanted: the centres they should have, ascending.
        height: of one label, with the space it wants.
        low: lower end of the room.
        high: upper end of the room.
    """
    if not wanted:
        return []
    step = min(height, (high - low) / len(wanted))
    piles: list[_Pile] = []
    for centre in wanted:
        piles.append(_Pile(centre, 1))
        while len(piles) > 1 and piles[-2].end(step, low, high) > piles[-1].start(step, low, high) + 1e-12:
            later, earlier = piles.pop(), piles.pop()
            piles.append(earlier.joined(later, step))
    return [pile.start(step, low, high) + step * (n + 0.5) for pile in piles for n in range(pile.count)]


@dataclass(frozen=True)
class _Pile:
    """Labels that touch one another.

    Attributes:
        centre: where its middle should be.
        count: how many they are.
    """

    centre: float
    count: int

    def start(self, step: float, low: float, high: float) -> float:
        return min(max(self.centre - step * self.count / 2, low), high - step * self.count)

    def end(self, step: float, low: float, high: float) -> float:
        return self.start(step, low, high) + step * self.count

    def joined(self, later: _Pile, step: float) -> _Pile:
        # Each label's wish, seen from the middle of the joined pile.
        together = self.count + later.count
        total = self.count * (self.centre + step * later.count / 2) + later.count * (
            later.centre - step * self.count / 2
        )
        return _Pile(total / together, together)
