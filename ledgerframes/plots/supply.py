"""`plot_supply`: the total supply of instruments, over snapshots or at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.plots.drawing.amount_scale import amount_scale
from ledgerframes.plots.drawing.columns import at_least_one, checked, floats, micros, texts
from ledgerframes.plots.drawing.contents import Bars, Line, Lines, Nothing
from ledgerframes.plots.drawing.end_labels import End, finish_with_names
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture, plain
from ledgerframes.plots.drawing.number_format import amount_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.session_hues import SESSION
from ledgerframes.plots.drawing.short_ids import short_names, shown
from ledgerframes.plots.drawing.time_axis import between, dates, time_axis
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.series import bars_figure, lines_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_supply"
_TITLE: Final = "Total supply of instruments"
_UNIT: Final = "supply, each in its own unit"
_GIVER: Final = "lf.load_instruments(net)"
_TIMES: Final = ("loaded_at", "total_supply_as_of")


@picture
def plot_supply(instruments: Any, *, top: int = 7, backend: Backend = "matplotlib", ax: Axes | None = None) -> Any:
    """Draw total supplies: lines over time where an instrument has several snapshots, else bars.

    Each instrument counts in its own unit, so supplies are never added up; those beyond `top` are only counted. The
    scale is logarithmic where the largest supply is more than a hundred times the smallest shown.

    Args:
        instruments: snapshots from `load_instruments`, of one or several loads: instrument_id, symbol, total_supply,
            and loaded_at or total_supply_as_of.
        top: how many instruments to show, those with the largest supply.
        backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; it needs the extra
            `interactive`.
        ax: where to draw; a new figure by default.

    Returns:
        The axes drawn on; `ax.figure` is the picture. With `backend="plotly"` a figure of plotly, which a notebook
        shows and `figure.write_html(path)` saves. Nothing is shown or saved here.

    Raises:
        InputError: the frame lacks the columns, or `top` is not 1 or more.
        ConfigurationError: `backend="plotly"` without plotly.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot_supply(lf.load_instruments(net)).get_xlabel()
        'supply, each in its own unit'
    """
    at_least_one(top, "top")
    interactive = wants_plotly(backend, ax)
    frame = checked(instruments, ("instrument_id", "symbol", "total_supply"), picture=_PICTURE, giver=_GIVER)
    content = _content(frame, top)
    if interactive:
        return bars_figure(content) if isinstance(content, Bars) else lines_figure(content)
    if isinstance(content, Nothing):
        return nothing(axes(ax, size=(8.4, 4.2)), content.title, content.why)
    if isinstance(content, Lines):
        ax = axes(ax, size=(9.2, 4.4))
        return finish_with_names(ax, _lines(ax, content), content.title, content.second)
    ax = axes(ax, size=(8.4, 1.9 + 0.29 * len(content.labels)))
    _bars(ax, content)
    return finish(ax, content.title, content.second)


def _content(frame: pd.DataFrame, top: int) -> Lines | Bars | Nothing:
    rows = _rows(frame)
    if rows.empty:
        return Nothing(_TITLE, "no instrument tells its total supply here")
    last = rows.drop_duplicates("instrument", keep="last").sort_values("supply", ascending=False, kind="stable")
    shown_ones = last.head(top)
    rows = rows[rows["instrument"].isin(shown_ones["instrument"])]
    labels = _labels(last).loc[shown_ones["instrument"]]
    second = _second(frame, last, shown_ones, rows)
    if rows.groupby("instrument")["moment"].nunique().max() == 1:
        names = tuple(map(str, labels.index))
        return Bars(_TITLE, second, _UNIT, names, tuple(labels), shown_ones["supply"].to_numpy(np.float64))
    by_name = dict(list(rows.groupby("instrument")))
    return Lines(
        title=_TITLE, second=second, of=_UNIT, unit="", kind="instrument", lines=tuple(
            Line(str(name), label, line["moment"].to_numpy(), line["supply"].to_numpy(np.float64))
            for name, label, line in ((name, label, by_name[name]) for name, label in labels.items())
        ),
    )  # fmt: skip


def _rows(frame: pd.DataFrame) -> pd.DataFrame:
    """One row an instrument and moment, by time; without those whose supply is not told."""
    moment = next((name for name in _TIMES if name in frame.columns), None)
    if moment is None and len(frame.columns):
        if len(frame):
            raise InputError(f"{_PICTURE} needs a column of times: loaded_at or total_supply_as_of; use {_GIVER}")
        moment = "instrument_id"
    times, known = micros(frame, moment) if moment in _TIMES else (np.zeros(0, np.int64), np.zeros(0, bool))
    if moment == "loaded_at" and not known.any() and "total_supply_as_of" in frame.columns:
        times, known = micros(frame, "total_supply_as_of")
    rows = pd.DataFrame(
        {
            "instrument": texts(frame, "instrument_id").to_numpy(),
            "symbol": texts(frame, "symbol", absent="").to_numpy(),
            "supply": floats(frame, "total_supply"),
            "moment": times,
        }
    )
    return rows[known & rows["supply"].notna().to_numpy()].sort_values("moment", kind="stable")


def _labels(last: pd.DataFrame) -> pd.Series:
    """The symbol where it is an instrument's own, with its id where several share it; by instrument id."""
    short = short_names(last["instrument"])
    shared = last["symbol"].duplicated(keep=False) | (last["symbol"] == "")
    ids = last["instrument"].map(short)
    return pd.Series(
        np.where(shared, (last["symbol"] + " " + ids).str.strip(), last["symbol"]), index=last["instrument"]
    )


def _lines(ax: Axes, content: Lines) -> list[End]:
    """Draw the lines, and return where each ends on the right."""
    hues = SESSION.of("instrument", [line.name for line in content.lines], inside(ax))
    ends = []
    for line in content.lines:
        ax.plot(
            dates(line.moments), line.values, color=hues[line.name], linewidth=2, marker="o", gid="series",
            markersize=5 if len(line.values) < 25 else 0, label=shown(line.label),
        )  # fmt: skip
        end = float(line.values[-1])
        ends.append((end, f"{line.label}  {amount_text(end)}", hues[line.name]))
    plain(ax)
    amount_scale(ax, pd.Series(np.concatenate([line.values for line in content.lines])), "y", floor=0.85)
    ax.set_ylabel(content.of + (" (logarithmic)" if ax.get_yscale() == "log" else ""))
    moments = np.concatenate([line.moments for line in content.lines])
    time_axis(ax, int(moments.min()), int(moments.max()) + 1, label="time (UTC)", margin=0.02)
    return ends


def _bars(ax: Axes, content: Bars) -> None:
    tones = inside(ax)
    at = np.arange(len(content.values))
    for bar in ax.barh(at, content.values, 0.72, color=tones.hues[0]):
        bar.set_gid("supply")
    ax.set_yticks(at, [shown(label) for label in content.labels])
    ax.set_ylim(len(at) - 0.4, -0.6)
    plain(ax, grid="x")
    amount_scale(ax, pd.Series(content.values), "x", floor=0.3)
    for row, supply in enumerate(content.values.tolist()):
        ax.annotate(
            amount_text(supply), (supply, row), xytext=(-4 if supply < 0 else 4, 0), textcoords="offset points",
            ha="right" if supply < 0 else "left", gid="total", va="center_baseline", color=tones.text, fontsize="small",
            annotation_clip=False,
        )  # fmt: skip
    ax.set_xlabel(content.of + (" (logarithmic)" if ax.get_xscale() == "log" else ""))


def _second(frame: pd.DataFrame, last: pd.DataFrame, shown_ones: pd.DataFrame, rows: pd.DataFrame) -> str:
    parts = [between(rows["moment"].to_numpy())]
    more = len(last) - len(shown_ones)
    silent = frame["instrument_id"].nunique() - len(last)
    parts += [f"the {len(shown_ones)} largest of {plural(len(last), 'instrument')}"] if more else []
    parts += [f"{plural(silent, 'other')} without a supply"] if silent else []
    return ", ".join(parts)
