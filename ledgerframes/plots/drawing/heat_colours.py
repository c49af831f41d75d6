"""The colours of a heat map on a ground; called by the matrix of reassignments, whichever library draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledgerframes.plots.drawing.palette import Tones, mixed

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


def heat_colours(tones: Tones) -> Colormap:
    """From near the ground to a strong blue: lighter is less on paper, darker is less on a dark ground."""
    from matplotlib.colors import LinearSegmentedColormap

    hue = tones.hues[0]
    end = mixed(hue, tones.text, 0.78 if not tones.dark else 0.55)
    stops: list[Any] = [mixed(hue, tones.ground, 0.16), mixed(hue, tones.ground, 0.6), hue, end]
    return LinearSegmentedColormap.from_list("counts", stops)
