"""The colours of a picture, chosen by how dark its ground is; called by every picture and by `style`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Tones:
    """The colours that can be read on one ground.

    Attributes:
        dark: whether the ground is dark.
        ground: the ground itself.
        text: titles and labels.
        quiet: second lines, tick labels, axes.
        faint: grid lines and empty cells.
        hues: what tells categories apart, also with deficient colour vision.
        rest: what has no hue of its own.
    """

    dark: bool
    ground: RGB
    text: str
    quiet: str
    faint: str
    hues: tuple[str, ...]
    rest: str

    def by_rank(self, names: Sequence[Hashable]) -> dict[Hashable, str]:
        """A hue for each of the first names, the rest's colour for those after them."""
        return {name: self.hues[rank] if rank < len(self.hues) else self.rest for rank, name in enumerate(names)}


LIGHT: Final = Tones(
    dark=False,
    ground=(1.0, 1.0, 1.0),
    text="#1d2329",
    quiet="#5b6570",
    faint="#e4e8ec",
    hues=("#0f53b0", "#e0680f", "#0b9c65", "#c6609c", "#5bb2e6", "#d9a514", "#6a4f9f"),
    rest="#a3acb5",
)
DARK: Final = Tones(
    dark=True,
    ground=(0.078, 0.094, 0.114),
    text="#eef1f4",
    quiet="#a6b0ba",
    faint="#2d353e",
    hues=("#3d9bfc", "#f28a3b", "#21b992", "#e58fc4", "#99d7fb", "#eec54f", "#9b7ed1"),
    rest="#717c88",
)


def inside(ax: Axes) -> Tones:
    """The colours for what is drawn within the axes."""
    return _on(_laid_over(ax.get_facecolor(), outside(ax).ground))


def outside(ax: Axes) -> Tones:
    """The colours for what is drawn around the axes: title, tick labels, legend."""
    paper = ax.get_figure(root=True)
    assert paper is not None, "the Axes was removed from its figure"
    return _on(_laid_over(paper.get_facecolor(), _page().ground))


def of_settings() -> Tones:
    """The colours for what matplotlib's settings say of figures, which `style` sets, where there is no Axes."""
    from matplotlib import rcParams

    return _on(_laid_over(rcParams["figure.facecolor"], _page().ground))


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
    """What a transparent figure lies on; only the text colour tells about it."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    return DARK if luminance(to_rgb(rcParams["text.color"])) > 0.4 else LIGHT


def _on(ground: RGB) -> Tones:
    tones = DARK if luminance(ground) < 0.18 else LIGHT
    return Tones(tones.dark, ground, tones.text, tones.quiet, tones.faint, tones.hues, tones.rest)


def _laid_over(colour: object, ground: RGB) -> RGB:
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(colour)  # type: ignore[arg-type]
    return mixed((red, green, blue), ground, alpha)
