"""The figure that an interactive picture is drawn on: title, ground, axes, and the words shown under the pointer."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ledgerframes.errors import visible
from ledgerframes.plots.drawing.columns import Micros
from ledgerframes.plots.drawing.contents import Nothing
from ledgerframes.plots.drawing.palette import RGB, Tones, mixed
from ledgerframes.plots.drawing.time_axis import within_years

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_DIGITS: Final = 15  # of a double
_DECIMALS: Final = 10  # of an amount
_WRAP: Final = 110  # characters of a second line in the width of a page


def figure(title: str, second: str, tones: Tones, *, height: int = 440) -> Figure:
    """An empty figure with title and second line, in the colours of the ground."""
    from ledgerframes.plots.interactive.local_figure import LocalFigure

    lines = _wrapped(second)
    words = f"<b>{said(title)}</b>" + "".join(
        f"<br><span style='font-size:12px;color:{tones.quiet}'>{line}</span>" for line in lines
    )
    made = LocalFigure()
    made.update_layout(
        template="none", height=height, paper_bgcolor=colour(tones.ground), plot_bgcolor=colour(tones.ground),
        title={"text": words, "x": 0, "xref": "paper", "y": 1, "yref": "container", "yanchor": "top",
               "pad": {"t": 14}, "font": {"size": 17, "color": tones.text}},
        font={"family": _FONT, "size": 12, "color": tones.quiet},
        margin={"l": 64, "r": 24, "t": 56 + 17 * len(lines), "b": 56},
        hoverlabel={"align": "left", "namelength": -1, "bgcolor": colour(mixed(tones.text, tones.ground, 0.08)),
                    "bordercolor": tones.quiet, "font": {"color": tones.text, "family": _FONT}},
        legend={"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"},
    )  # fmt: skip
    axis = {
        "gridcolor": tones.faint, "linecolor": tones.quiet, "zerolinecolor": tones.quiet, "zerolinewidth": 1,
        "tickcolor": tones.quiet, "automargin": True,
    }  # fmt: skip
    made.update_xaxes(showgrid=False, showline=True, ticks="outside", zeroline=False, **axis)
    made.update_yaxes(showgrid=True, exponentformat="B", **axis)
    return made


def nothing(content: Nothing, tones: Tones) -> Figure:
    """An empty picture with the reason in it."""
    made = figure(content.title, "", tones, height=260)
    made.update_xaxes(visible=False)
    made.update_yaxes(visible=False)
    made.add_annotation(
        text=said(content.why), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, name="nothing",
        font={"size": 14, "color": tones.quiet},
    )  # fmt: skip
    return made


def said(text: str) -> str:
    """Text that plotly shows as it is: it reads a part of HTML, and ids and names come from a ledger."""
    return html.escape(visible(text), quote=False)


def hover(label: str, name: str | None, *lines: str) -> str:
    """What is shown under the pointer: the label, the whole id where the label is not it, and the lines."""
    whole = [] if name is None or name == label else [name]
    return "<br>".join([f"<b>{said(label)}</b>", *map(said, whole), *map(said, lines)])


def exact(value: float) -> str:
    """An amount with all the digits that a double has of it, ten after the point at most."""
    before = len(f"{abs(value):.0f}")
    return _trimmed(f"{value:,.{min(_DECIMALS, max(0, _DIGITS - before))}f}")


def moments(times: Micros) -> list[str]:
    """Microseconds since 1970 as plotly reads times."""
    return [str(text) for text in np.datetime_as_string(within_years(times), unit="ms")]


def moment_words(time: int) -> str:
    """An instant to the second, or to the millisecond where it has those."""
    text = str(np.datetime_as_string(within_years(np.array([time], dtype=np.int64)), unit="ms")[0])
    return text.replace("T", " ").removesuffix(".000")


def colour(given: str | RGB, alpha: float = 1.0) -> str:
    """A colour as plotly writes it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (round(255 * part) for part in to_rgb(given))
    return f"rgba({red},{green},{blue},{alpha:g})"


def axis_title(text: str) -> dict[str, Any]:
    """The label of an axis."""
    return {"text": said(text), "font": {"size": 12}}


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def _wrapped(second: str) -> list[str]:
    import textwrap

    return [said(line) for line in textwrap.wrap(second, _WRAP)]
