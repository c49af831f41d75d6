"""`style`: how charts look in a report, light or dark."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Literal, Self

from ledgerframes.errors import InputError
from ledgerframes.plot.palette import DARK, LIGHT, Tones


class Style:
    """Settings of matplotlib for a `with` block.

    Attributes:
        rc: the settings, for `matplotlib.rcParams.update` where they should stay.
    """

    def __init__(self, rc: dict[str, Any], words: str) -> None:
        self.rc = rc
        self._words = words
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Set the settings."""
        from matplotlib import rc_context

        self._open.enter_context(rc_context(dict[Any, Any](self.rc)))
        return self

    def __repr__(self) -> str:
        return f"style({self._words})"

    def __exit__(self, *error: object) -> None:
        """Put back what was set before."""
        self._open.close()


def style(theme: Literal["light", "dark"] = "light", *, scale: float = 1.0) -> Style:
    """Give every chart drawn in a `with` block the look of a report.

    Charts choose readable colours on any ground by themselves; this sets the ground, the type sizes and the
    resolution, and puts everything back at the end of the block. `rcParams.update(lf.plot.style("dark").rc)` keeps it.

    Args:
        theme: `"light"` or `"dark"`.
        scale: factor on the type sizes; 1.4 suits slides.

    Returns:
        A context manager; its `rc` holds the settings for matplotlib's `rcParams`.

    Raises:
        InputError: the theme is unknown, or the scale is not between 0.3 and 5.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net, lf.plot.style("dark"):
        ...     lf.plot.updates(lf.load_updates(net)).get_ylabel()
        'updates per 15 seconds'
    """
    themes = {"light": LIGHT, "dark": DARK}
    if not isinstance(theme, str) or theme not in themes:
        raise InputError(f"theme={theme!r} is neither 'light' nor 'dark'")
    if not 0.3 <= scale <= 5:
        raise InputError(f"scale={scale!r} is not between 0.3 and 5; 1 is the size for a page, 1.4 for slides")
    return Style(_settings(themes[theme], scale), f"{theme!r}, scale={scale:g}")


def _settings(tones: Tones, scale: float) -> dict[str, Any]:
    from cycler import cycler

    return {
        "figure.facecolor": tones.ground,
        "axes.facecolor": tones.ground,
        "savefig.facecolor": "auto",
        "figure.dpi": 100.0,
        "savefig.dpi": 200.0,
        "text.color": tones.text,
        "axes.labelcolor": tones.quiet,
        "axes.edgecolor": tones.quiet,
        "axes.titlecolor": tones.text,
        "axes.titleweight": "bold",
        "axes.titlesize": 13 * scale,
        "axes.labelsize": 9.5 * scale,
        "xtick.color": tones.quiet,
        "ytick.color": tones.quiet,
        "xtick.labelsize": 9 * scale,
        "ytick.labelsize": 9 * scale,
        "legend.fontsize": 9 * scale,
        "font.size": 10 * scale,
        "grid.color": tones.faint,
        "axes.prop_cycle": cycler(color=tones.hues),
        "hatch.linewidth": 0.8,
        "svg.fonttype": "none",
    }
