"""`plot_supply_per_round`: what each round minted and burned, or the supply after it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from ledgerframes.plots.drawing.amount_stacks import amount_axis
from ledgerframes.plots.drawing.columns import Floats, checked, floats, one_of
from ledgerframes.plots.drawing.contents import Nothing, RoundFlows, RoundTotals
from ledgerframes.plots.drawing.layout import Key, axes, finish, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import amount_text, count_text, plural, scale_text
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.stacks import pale_between
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.series import rounds_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_supply_per_round"
_GIVER: Final = "lf.supply_per_round(events)"
_TITLES: Final = {"flows": "Coin minted and burned", "total": "Total supply of coin"}
_MOST: Final = 120
_FAR: Final = 100
_WIDEST: Final = 8  # a bar takes an eighth of the width at most


@picture
def plot_supply_per_round(
    rounds: Any,
    *,
    show: Literal["flows", "total"] = "flows",
    backend: Backend = "matplotlib",
    ax: Axes | None = None,
) -> Any:
    """Draw what each round minted, upwards, and burned, downwards; or the supply after each round.

    More than 120 rounds are put together, in groups of 2, 5, 10 and so on. The scale of minted and burned is
    logarithmic where one is more than a hundred times the other. The second line states what is not known and what
    `unexplained` is not 0 for. The scale of the supply does not begin at 0 where it changes by little.

    Args:
        rounds: one row per round, from `supply_per_round`.
        show: minted and burned, or the total supply, which needs rows whose `total` is known.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on, in coin; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a
        notebook shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or `show` is not one of the two.
        ConfigurationError: `backend="plotly"` without plotly.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     rounds = lf.supply_per_round(lf.load_events(net))
        >>> lf.plot_supply_per_round(rounds).get_xlabel()
        'round'
    """
    one_of(show, "show", tuple(_TITLES))
    interactive = wants_plotly(backend, ax)
    needed = ("round", "total") if show == "total" else ("round", "minted", "burned", "unexplained")
    content = _content(checked(rounds, needed, picture=_PICTURE, giver=_GIVER), show, needed)
    if interactive:
        return rounds_figure(content)
    ax = axes(ax, size=(9.2, 4.4))
    if isinstance(content, Nothing):
        return nothing(ax, content.title, content.why)
    return _total(ax, content) if isinstance(content, RoundTotals) else _flows(ax, content)


def _content(frame: pd.DataFrame, show: str, needed: tuple[str, ...]) -> RoundFlows | RoundTotals | Nothing:
    numbers = floats(frame, "round")
    order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
    if not len(order):
        return Nothing(_TITLES[show], "no rounds in this range")
    columns = {name: floats(frame, name)[order] for name in needed}
    return _totals_of(columns) if show == "total" else _flows_of(columns)


def _flows_of(columns: dict[str, Floats]) -> RoundFlows:
    numbers = columns["round"]
    groups = _Groups.of(numbers)
    flows = RoundFlows(
        title=_TITLES["flows"], second=", ".join([_span(numbers), *_doubts(columns)]), per=f"coin per {groups.name()}",
        numbers=numbers, first=groups.first, size=groups.size, minted=groups.sums(numbers, columns["minted"]),
        burned=groups.sums(numbers, columns["burned"]),
    )  # fmt: skip
    return replace(flows, second=flows.second + _incomplete(flows))


def _incomplete(flows: RoundFlows) -> str:
    if not flows.cut:
        return ""
    ends = ["last" if place else "first" for place in flows.cut]
    return (
        "; the only bar is incomplete"
        if len(flows.first) == 1
        else (f"; the {' and the '.join(ends)} bar {'is' if len(ends) == 1 else 'are'} incomplete")
    )


def _totals_of(columns: dict[str, Floats]) -> RoundTotals | Nothing:
    known = ~np.isnan(columns["total"])
    numbers, totals = columns["round"][known], columns["total"][known]
    if not len(numbers):
        why = "the supply before these rounds is not known; give opening= to lf.supply_per_round"
        return Nothing(_TITLES["total"], why)
    low, high = float(totals.min()), float(totals.max())
    near = 0 < high - low < low / 2
    unknown = int((~known).sum())
    second = _span(numbers) + (f"; not known after {plural(unknown, 'other')}" if unknown else "")
    of = "coin after the round" + (", from above 0" if near else "")
    return RoundTotals(title=_TITLES["total"], second=second, of=of, numbers=numbers, totals=totals, near=near)


@dataclass(frozen=True)
class _Groups:
    """Consecutive rounds put together: the first round of each group."""

    first: Floats
    size: int

    @classmethod
    def of(cls, numbers: Floats) -> _Groups:
        low, high = numbers[0], numbers[-1]
        size = next(step * 10**power for power in range(18) for step in (1, 2, 5) if _few(low, high, step * 10**power))
        return cls(np.arange(low // size * size, high + 1, size), size)

    def sums(self, numbers: Floats, values: Floats) -> Floats:
        """The sum of each group."""
        places = np.searchsorted(self.first, numbers, side="right") - 1
        return np.bincount(places, weights=np.nan_to_num(values), minlength=len(self.first)).astype(np.float64)

    def name(self) -> str:
        """What a bar is the sum of."""
        return "round" if self.size == 1 else f"{count_text(self.size)} rounds"


def _few(low: float, high: float, size: int) -> bool:
    return bool(high // size - low // size < _MOST)


def _flows(ax: Axes, content: RoundFlows) -> Axes:
    tones = inside(ax)
    edges = content.edges
    keys: list[Key] = []
    series = (("minted", content.minted, 1), ("burned", content.burned, -1))
    for (name, values, sign), hue in zip(series, tones.hues, strict=False):
        steps = ax.stairs(sign * values, edges, fill=True, color=hue, linewidth=0, label=name, gid="series")
        keys.append((steps, f"{name}  {amount_text(float(values.sum()))}"))
    ax.axhline(0, color=tones.quiet, linewidth=0.8)
    for place in content.cut:
        pale_between(ax, edges[place], edges[place + 1])
    plain(ax)
    _flow_axis(ax, float(content.minted.max()), float(content.burned.max()))
    # A single round is not as wide as the axes.
    air = max(0.0, (_WIDEST * content.size - (edges[-1] - edges[0])) / 2)
    _round_axis(ax, content.numbers, edges[0] - air, edges[-1] + air)
    ax.set_ylabel(content.per + (" (logarithmic)" if ax.get_yscale() == "symlog" else ""))
    return finish(ax, content.title, content.second, keys)


def _doubts(columns: dict[str, Floats]) -> list[str]:
    """In how many rounds something is not known, or not explained."""
    unknown = int((np.isnan(columns["burned"]) | np.isnan(columns["minted"])).sum())
    unexplained = int((np.nan_to_num(columns["unexplained"]) != 0).sum())
    words = [f"what was burned is not known in {unknown:,}"] if unknown else []
    return words + ([f"changes unexplained in {unexplained:,}"] if unexplained else [])


def _flow_axis(ax: Axes, minted: float, burned: float) -> None:
    """Amounts up and down from 0; logarithmic on both sides where one would be too small to see."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    small, large = sorted((minted, burned))
    if not 0 < small < large / _FAR:
        amount_axis(ax, -burned, minted)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale_text(abs(value), large)))
        return
    lowest, highest = math.floor(math.log10(small)) - 1, math.ceil(math.log10(large))
    ax.set_yscale("symlog", linthresh=10.0**lowest)
    ax.set_ylim(-burned * 2 or None, minted * 2 or None)
    stride = max(1, math.ceil((highest - lowest) / 4))
    powers = [10.0**power for power in range(lowest + 1, highest + 1, stride)]
    ticks = [
        0.0,
        *(power for power in powers if power <= minted * 2),
        *(-power for power in powers if power <= burned * 2),
    ]
    ax.yaxis.set_major_locator(FixedLocator(sorted(ticks)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount_text(abs(value))))


def _total(ax: Axes, content: RoundTotals) -> Axes:
    numbers, totals, near = content.numbers, content.totals, content.near
    tones = inside(ax)
    low, high = float(totals.min()), float(totals.max())
    room = max((numbers[-1] - numbers[0]) / 16, 1.0)
    x, y = np.append(numbers, numbers[-1] + room), np.append(totals, totals[-1])
    if not near:
        ax.fill_between(x, y, step="post", color=tones.hues[0], alpha=0.16, linewidth=0)
    ax.step(x, y, where="post", color=tones.hues[0], linewidth=2, gid="series")
    ax.plot(x[-1], y[-1], marker="o", color=tones.hues[0], markersize=6, clip_on=False)
    ax.annotate(
        amount_text(float(y[-1])), (x[-1], y[-1]), xytext=(8, 0), textcoords="offset points", va="center",
        weight="bold", color=tones.text, gid="total", annotation_clip=False,
    )  # fmt: skip
    plain(ax)
    amount_axis(ax, low, high)
    if near:
        ax.set_ylim(low - (high - low) * 0.08, high + (high - low) * 0.08)
    _round_axis(ax, numbers, numbers[0] - room / 2, x[-1])
    ax.set_ylabel(content.of)
    return finish(ax, content.title, content.second)


def _span(numbers: Floats) -> str:
    first, last = f"{numbers[0]:.0f}", f"{numbers[-1]:.0f}"
    return f"round {first}" if first == last else f"{plural(len(numbers), 'round')}, {first} to {last}"


def _round_axis(ax: Axes, numbers: Floats, low: float, high: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    ax.set_xlim(low, high)
    few = len(set(numbers)) <= _WIDEST
    ax.xaxis.set_major_locator(FixedLocator(sorted(set(numbers))) if few else MaxNLocator(nbins=8, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    ax.set_xlabel("round")
