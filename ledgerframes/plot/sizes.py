"""The size of a chart's figure; both renderers call it."""

from __future__ import annotations

from ledgerframes.plot.contents import Bars, Content, Flows, Matrix, Panels, Steps


def size_of(content: Content) -> tuple[float, float]:
    """Width and height in inches of a figure of its own, or in hundreds of pixels."""
    if isinstance(content, Flows):
        rows = max(len(content.sizes(0)), len(content.sizes(1)))
        return 9.2, min(max(3.8, 1.7 + 0.28 * rows), 12.0)
    if isinstance(content, Matrix):
        side = min(2.6 + 0.32 * len(content.names), 8.4)
        return side + 2.6, side + 0.9
    if isinstance(content, Bars):
        return 8.4, 1.9 + max(0.29 * len(content.names), 0.21 * (len(content.series) - 2))
    if isinstance(content, Panels):
        rows = -(-len(content.panels) // content.columns)
        return 9.2, 1.2 + (1.8 if content.columns == 1 else 1.6) * rows
    return 9.2, max(4.4, 1.2 + 0.18 * len(content.series)) if isinstance(content, Steps) else 4.4
