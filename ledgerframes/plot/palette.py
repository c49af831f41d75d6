"""The colours of a chart, by how dark its background is, those of names, and `style`: light or dark as in a report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np

from ledgerframes.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Tones:
    """The colours that can be read on one ground.

    Attributes:
        dark: whether the ground is dark.
        ground: the ground itself.
        text: titles and labels.
        quiet: subtitles, tick labels, axes.
        faint: grid lines and empty cells.
        hues: colours that distinguish categories, also with deficient colour vision.
        rest: the colour of everything without a hue of its own.
    """

    dark: bool
    ground: RGB
    text: str
    quiet: str
    faint: str
    hues: tuple[str, ...]
    rest: str

    def hue(self, place: int | None) -> str:
        """The colour of a place; grey for None and for places beyond the last."""
        return self.rest if place is None or place >= len(self.hues) else self.hues[place]

    def of_others(self, hue: str, *, cut: bool) -> str | RGB:
        """The colour of a part of a bar of the others: grey if it is cut, since its length says nothing then."""
        return self.rest if cut else mixed(hue, self.ground, 0.6)


# Any two hues of a theme differ by 20 or more (CIE 1976), for normal vision, protanopia and deuteranopia.
LIGHT: Final = Tones(
    dark=False,
    ground=(1.0, 1.0, 1.0),
    text="#1d2329",
    quiet="#5b6570",
    faint="#e4e8ec",
    hues=("#0f53b0", "#e0680f", "#22c07c", "#7a1550", "#d398f0", "#484511", "#8430e8"),
    rest="#a3acb5",
)
DARK: Final = Tones(
    dark=True,
    ground=(0.078, 0.094, 0.114),
    text="#eef1f4",
    quiet="#a6b0ba",
    faint="#2d353e",
    hues=("#3d9bfc", "#f28a3b", "#7bea9d", "#b07359", "#e6c8ff", "#d3ee2a", "#7463ff"),
    rest="#717c88",
)
HUES: Final = len(LIGHT.hues)
#: A colour in the style of an element of SVG.
_COLOUR: Final = re.compile('(?:(?<=: )|(?<=fill="))#[0-9a-f]{6}')  # the second one of hatches


def hues_of(names: Iterable[str]) -> dict[str, int | None]:
    """A colour for each of the first seven names, derived from the name alone: equal from chart to chart.

    Where two names of a chart would have one colour, the one whose digest is larger takes the next that is free.
    """
    listed = list(names)
    digests = {name: int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) for name in listed[:HUES]}
    found: dict[str, int | None] = dict.fromkeys(listed)
    free = set(range(HUES))
    for name, digest in sorted(digests.items(), key=lambda item: item[1]):
        start, step = digest % HUES, 1 + digest // HUES % (HUES - 1)  # seven is prime: every step reaches all
        found[name] = next(place for k in range(HUES) if (place := (start + k * step) % HUES) in free)
        free.discard(found[name])
    return found


def in_dark(svg: str) -> str | None:
    """A chart of the light palette in the colours of the dark one; None if one of its colours has no counterpart."""
    dark = _counterparts()
    if not {*_COLOUR.findall(svg)} <= dark.keys():
        return None
    return _COLOUR.sub(lambda colour: dark[colour[0]], svg)


@cache
def _counterparts() -> Mapping[str, str]:
    """The colour on a dark background for each one on a light background."""
    return dict(zip(_shades(LIGHT), _shades(DARK), strict=True))


def _shades(tones: Tones) -> list[str]:
    """Each hue mixed with the background or the text in steps of a fifth of a percent, then the other colours."""
    from matplotlib.colors import to_rgba_array

    share = np.linspace(0, 1, 501)[:, None]
    hues, others = to_rgba_array((*tones.hues, tones.rest)), to_rgba_array((tones.ground, tones.text))
    mixes = [share * hue + (1 - share) * other for hue, other in product(hues, others)]
    rows = np.concatenate([*mixes, others, to_rgba_array((tones.quiet, tones.faint))])[:, :3]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.rint(rows * 255).astype(int).tolist()]


def inside(ax: Axes) -> Tones:
    """The colours for marks within the axes."""
    return _on(_laid_over(ax.get_facecolor(), outside(ax).ground))


def outside(ax: Axes) -> Tones:
    """The colours for texts around the axes: title, tick labels, legend."""
    paper = ax.get_figure(root=True)
    assert paper is not None, "the Axes was removed from its figure"
    return _on(_laid_over(paper.get_facecolor(), _page().ground))


def of_settings() -> Tones:
    """The colours for figures without Axes, from matplotlib's settings, which `style` sets."""
    from matplotlib import rcParams

    return _on(_laid_over(rcParams["figure.facecolor"], _page().ground))


def heat_colours(tones: Tones) -> Colormap:
    """From near the ground to a strong blue: lighter is less on paper, darker is less on a dark ground."""
    from matplotlib.colors import LinearSegmentedColormap

    hue = tones.hues[0]
    end = mixed(hue, tones.text, 0.78 if not tones.dark else 0.55)
    return LinearSegmentedColormap.from_list(
        "counts", [mixed(hue, tones.ground, 0.16), mixed(hue, tones.ground, 0.6), mixed(hue, hue, 1), end]
    )


def mixed(colour: str | RGB, other: str | RGB, share: float) -> RGB:
    """`share` of the first colour, the rest of the second."""
    from matplotlib.colors import to_rgb

    pairs = zip(to_rgb(colour), to_rgb(other), strict=True)
    red, green, blue = (share * first + (1 - share) * two for first, two in pairs)
    return red, green, blue


def luminance(colour: RGB) -> float:
    """Relative luminance, 0 for black to 1 for white."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _page() -> Tones:
    """The background of a transparent figure, judged by the text colour."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    return DARK if luminance(to_rgb(rcParams["text.color"])) > 0.4 else LIGHT


def _on(ground: RGB) -> Tones:
    return replace(DARK if luminance(ground) < 0.18 else LIGHT, ground=ground)


def _laid_over(colour: object, ground: RGB) -> RGB:
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(colour)  # type: ignore[arg-type]
    return mixed((red, green, blue), ground, alpha)


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
