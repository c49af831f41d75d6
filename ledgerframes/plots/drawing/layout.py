"""The Axes a picture is drawn on, and what every picture has around it: title, second line, legend, quiet axes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ledgerframes.arguments import enough_memory
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.plots.drawing.palette import inside, outside
from ledgerframes.plots.drawing.short_ids import shown

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

Key = tuple["Artist", str]
P = ParamSpec("P")
T = TypeVar("T")

_made: ContextVar[list[Figure]] = ContextVar("_made")


def picture(draw: Callable[P, T]) -> Callable[P, T]:
    """A drawing function that closes the figure it opened when it fails: a notebook would show it, empty."""

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> T:
        if find_spec("matplotlib") is None:
            raise ConfigurationError("pictures need matplotlib, which is not installed; run: pip install matplotlib")
        opened = _made.set([])
        try:
            with enough_memory(draw.__name__):
                return draw(*args, **options)
        except BaseException:
            import matplotlib.pyplot as plt

            for figure in _made.get():
                plt.close(figure)
            raise
        finally:
            _made.reset(opened)

    return drawn


def axes(ax: Axes | None, *, size: tuple[float, float]) -> Axes:
    """The caller's Axes, or one in a new figure of that size in inches.

    Raises:
        InputError: `ax` is something else.
    """
    if ax is None:
        import matplotlib.pyplot as plt
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        figure, made = plt.subplots(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
        _made.get().append(figure)
        return made
    if not hasattr(ax, "transAxes"):
        raise InputError(f"ax={ax!r} is not a matplotlib Axes; take one from `figure, ax = plt.subplots()`")
    return ax


def finish(ax: Axes, title: str, second: str, keys: Sequence[Key] = (), *, foot: float | None = None) -> Axes:
    """Write title, second line and legend above the axes; call it last, when the rest is drawn.

    Args:
        ax: the axes.
        title: what the picture shows.
        second: what it counts, over which range, what is left out; wrapped to the width.
        keys: what the legend shows, in order.
        foot: points that the axes keep free at their lower end for the legend; above the axes by default.
    """
    tones = outside(ax)
    settle(ax)
    hang = _overhang(ax)
    across = measured(ax)[0]
    width = across + hang
    second_line = ax.annotate(
        shown(second), (0, 1), xytext=(-hang, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize=_small(), color=tones.quiet, ha="left", va="bottom", annotation_clip=False, gid="second line",
    )  # fmt: skip
    second_line.set_in_layout(False)  # a wide line must not narrow the axes; the title's padding keeps its height free
    _wrap(second_line, second, width)
    legend = _legend(ax, keys, width) if keys else None
    rise = 6.0
    if legend is not None and foot is not None:
        _place(legend, ax, "upper left", (0, 0), (0, foot - 8))
    elif legend is not None:
        # Texts are up to a twentieth wider where a figure is saved with fewer dots per inch than it was laid out with.
        beside = 1.05 * (_width(second_line) + _width(legend)) + 14 <= width
        _place(legend, ax, *(("lower right", (1, 1), (0, 7)) if beside else ("lower left", (0, 1), (-hang, 7))))
        rise += 0 if beside else _height(legend) + 4
        second_line.xyann = (-hang, rise)
    rise += _height(second_line) + 6 if second else 2
    heading = ax.set_title(shown(title), loc="left", color=tones.text, pad=rise, x=-hang / across)
    _wrap(heading, title, width)
    settle(ax)
    return ax


def nothing(ax: Axes, title: str, text: str) -> Axes:
    """An empty picture with the reason in it."""
    plain(ax, grid=None)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.text(
        0.5, 0.5, shown(text), transform=ax.transAxes, ha="center", va="center", wrap=True,
        color=inside(ax).quiet, fontsize=base_size() * 1.05, gid="nothing",
    )  # fmt: skip
    return finish(ax, title, "")


def plain(ax: Axes, *, grid: str | None = "y") -> None:
    """Quiet axes: no frame, a faint grid along one axis, colours that the ground lets one read."""
    tones = outside(ax)
    for side in ("top", "right", "left" if grid != "x" else "bottom"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(tones.quiet)
    ax.tick_params(which="both", colors=tones.quiet, length=0)
    ax.tick_params(axis="y" if grid == "x" else "x", which="major", length=3)
    ax.xaxis.label.set_color(tones.quiet)
    ax.yaxis.label.set_color(tones.quiet)
    ax.xaxis.get_offset_text().set_color(tones.quiet)
    ax.set_axisbelow(True)
    ax.grid(visible=False, which="both")
    if grid in {"x", "y"}:
        ax.grid(visible=True, axis="x" if grid == "x" else "y", which="major", color=inside(ax).faint, linewidth=0.8)


def measured(ax: Axes) -> tuple[float, float]:
    """Width and height in points that can be counted on, after the figure's layout has settled.

    A layout engine may narrow the axes again when their neighbours are drawn, so beside neighbours less counts.
    """
    paper = figure_of(ax)
    if paper.get_layout_engine() is not None:
        paper.draw_without_rendering()
    box = ax.get_window_extent()
    wide, high = (0.66, 0.85) if _crowded(ax) else (1.0, 1.0)
    return box.width * wide * 72 / paper.dpi, box.height * high * 72 / paper.dpi


def settle(ax: Axes) -> None:
    """Shrink axes whose labels reach over the figure's edge, where no layout engine does."""
    paper = figure_of(ax)
    if paper.get_layout_engine() is not None:
        return
    drawn, place = ax.get_tightbbox(), ax.get_position()
    if drawn is None:
        return
    margin, (wide, high) = 0.06 * paper.dpi, (paper.bbox.width, paper.bbox.height)
    x0 = place.x0 + max(0.0, margin - drawn.x0) / wide
    y0 = place.y0 + max(0.0, margin - drawn.y0) / high
    x1 = place.x1 - max(0.0, drawn.x1 - wide + margin) / wide
    y1 = place.y1 - max(0.0, drawn.y1 - high + margin) / high
    if x1 - x0 > 0.15 and y1 - y0 > 0.15:
        ax.set_position((x0, y0, x1 - x0, y1 - y0))
        ax.set_in_layout(True)  # a later tight_layout may place it again


def text_size(texts: Sequence[Text]) -> tuple[float, float]:
    """Greatest width and height of these texts, in points."""
    return max((_width(text) for text in texts), default=0.0), max((_height(text) for text in texts), default=0.0)


def figure_of(ax: Axes) -> Figure:
    """The figure, also from an Axes in a part of one."""
    paper = ax.get_figure(root=True)
    assert paper is not None, "the Axes was removed from its figure"
    return paper


def _crowded(ax: Axes) -> bool:
    paper = figure_of(ax)
    return paper.get_layout_engine() is not None and len(paper.axes) > 1


def _overhang(ax: Axes) -> float:
    """Points that long category names reach left of the axes, which the title then starts above; 0 for short ones."""
    drawn = ax.yaxis.get_tightbbox() if ax.axison and not _crowded(ax) else None
    if drawn is None:
        return 0.0
    reach = (ax.get_window_extent().x0 - drawn.x0) * 72 / figure_of(ax).dpi
    return reach if reach > 72 else 0.0


def _legend(ax: Axes, keys: Sequence[Key], width: float) -> Legend:
    """The legend with as few rows as fit the width; smaller where it would take more than three."""
    tones = outside(ax)
    for size, columns in product((_small(), _small() * 0.84), range(len(keys), 0, -1)):
        legend = ax.legend(
            handles=[artist for artist, _ in keys], labels=[shown(label) for _, label in keys], ncols=columns,
            loc="upper left", frameon=False, labelcolor=tones.quiet, fontsize=size, borderpad=0, borderaxespad=0,
            handlelength=1.1, handleheight=0.9, handletextpad=0.5, columnspacing=1.3, labelspacing=0.35,
        )  # fmt: skip
        if _width(legend) <= width and (len(keys) <= 3 * columns or size < _small()):
            break
    return legend


def _place(legend: Legend, ax: Axes, corner: Any, at: tuple[float, float], move: tuple[float, float]) -> None:
    from matplotlib.transforms import ScaledTranslation

    moved = ScaledTranslation(move[0] / 72, move[1] / 72, figure_of(ax).dpi_scale_trans)
    legend.set_in_layout(False)
    legend.set_loc(corner)
    legend.set_bbox_to_anchor(at, ax.transAxes + moved)


def _small() -> float:
    return base_size() * 0.92


def _wrap(line: Text, words: str, width: float) -> None:
    long = _width(line)
    if long > width > 0:
        lines = textwrap.wrap(words, max(int(0.97 * len(words) * width / long), 12))
        line.set_text("\n".join(map(shown, lines)))


def _width(artist: Text | Legend) -> float:
    paper = artist.get_figure(root=True)
    assert paper is not None, "measured before it was drawn on a figure"
    return artist.get_window_extent().width * 72 / paper.dpi


def _height(artist: Text | Legend) -> float:
    paper = artist.get_figure(root=True)
    assert paper is not None, "measured before it was drawn on a figure"
    return artist.get_window_extent().height * 72 / paper.dpi


def base_size() -> float:
    """The type size that matplotlib is set to, in points."""
    from matplotlib import rcParams

    return float(rcParams["font.size"])
