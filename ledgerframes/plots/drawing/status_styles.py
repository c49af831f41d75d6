"""How a reassignment's status looks on whatever carries its colour; called by the pictures of reassignments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ledgerframes.plots.drawing.counts import COMPLETED
from ledgerframes.plots.drawing.number_format import count_text
from ledgerframes.plots.drawing.palette import Tones, mixed

if TYPE_CHECKING:
    from ledgerframes.plots.drawing.layout import Key


def look(status: str, hue: str, tones: Tones, *, strength: float) -> dict[str, Any]:
    """Properties of a patch.

    Args:
        status: the reassignment's.
        hue: the colour it carries.
        tones: the ground's colours.
        strength: share of the hue in a completed one's fill, 0 to 1.
    """
    full = mixed(hue, tones.ground, strength)
    strong = mixed(hue, tones.text, 0.8)
    if status == COMPLETED:
        return {"facecolor": full, "edgecolor": "none", "linewidth": 0}
    if status == "in flight":
        pale = mixed(hue, tones.ground, 0.12)
        return {"facecolor": pale, "edgecolor": strong, "linewidth": 0.9, "linestyle": (0, (3.2, 1.8))}
    hatch = "/////" if status == "repaired" else "....."
    return {"facecolor": mixed(hue, tones.ground, strength * 0.6), "edgecolor": strong, "linewidth": 0, "hatch": hatch}


def status_keys(found: Mapping[str, int], tones: Tones) -> list[Key]:
    """Legend entries of these statuses; none where all are completed."""
    from matplotlib.patches import Patch

    if set(found) <= {COMPLETED}:
        return []
    return [
        (Patch(**look(status, tones.rest, tones, strength=0.75)), f"{status} ({count_text(count)})")
        for status, count in found.items()
    ]
