"""Labels on a line moved apart; called by charts that put labels next to their marks."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], height: float, *, low: float, high: float) -> list[float]:
    """Centres for labels of one height, in the order given, without overlap.

    Labels that together are higher than the room are spaced evenly over it and overlap.

    Args:
        wanted: the centres they should have, ascending.
        height: of one label, with the space it wants.
        low: lower end of the room.
        high: upper end of the room.
    """
    step = min(height, (high - low) / max(len(wanted), 1))
    up, down = list(wanted), list(wanted)
    for n in range(len(wanted)):
        up[n] = max(up[n], (up[n - 1] if n else low - step / 2) + step)
    for n in reversed(range(len(wanted))):
        down[n] = min(down[n], (down[n + 1] if n + 1 < len(wanted) else high + step / 2) - step)
    # Half way between pushed up and pushed down they lie close to where they should, and still apart.
    middle = [(one + other) / 2 for one, other in zip(up, down, strict=True)]
    for n in range(len(middle)):
        middle[n] = max(middle[n], low + step * (n + 0.5))
    for n in range(len(middle)):
        middle[n] = min(middle[n], high - step * (len(middle) - n - 0.5))
    return middle
