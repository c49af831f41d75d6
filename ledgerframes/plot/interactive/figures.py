"""`figure_of`: a chart's content as a figure of plotly, which offers no way to send the chart elsewhere."""

from __future__ import annotations

import textwrap
from typing import Any, Final

import plotly.io as pio
from plotly.graph_objects import Figure

from ledgerframes.plot.contents import Bars, Content, Flows, Matrix, Nothing, Panels, Stack, Steps
from ledgerframes.plot.interactive.small import is_small, made_small
from ledgerframes.plot.interactive.traces import across, bars, flows, matrix, stack, steps
from ledgerframes.plot.interactive.words import axis_title, colour, escaped
from ledgerframes.plot.palette import Tones, mixed, of_settings
from ledgerframes.plot.sizes import size_of

_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_WRAP: Final = 100  # characters of a subtitle in the width of a narrow page
_TITLE: Final = 24  # pixels from the top to the line on which the title stands
_WORD: Final = 12  # characters by which a line may be longer than others, since a word is not broken
#: In plotly 7 "Share chart…" uploads the figure's data; older versions have the same under other names.
_REMOVED: Final = ("sendChartToCloud", "sendDataToCloud", "editInChartStudio", "select2d", "lasso2d", "autoScale2d")


def figure_of(content: Content, title: str | None) -> Figure:
    """Draw the content on a figure of its own."""
    tones = of_settings()
    made = _figure(content.title if title is None else title, content.subtitle, tones, round(100 * size_of(content)[1]))
    _KINDS[type(content)](made, content, tones)
    return made


def _figure(title: str, subtitle: str, tones: Tones, height: int) -> Figure:
    """An empty figure with title and subtitle, in the colours of the ground."""
    count = -(-len(subtitle) // _WRAP) or 1  # of lines, which are about equally long
    lines = [escaped(line) for line in textwrap.wrap(subtitle, min(_WRAP, len(subtitle) // count + _WORD))]
    words = f"<b>{escaped(title)}</b>" + "".join(
        f"<br><span style='font-size:12px;color:{tones.quiet}'>{line}</span>" for line in lines
    )
    made = LocalFigure()
    made.update_layout(
        template="none", height=height, paper_bgcolor=colour(tones.ground), plot_bgcolor=colour(tones.ground),
        title={"text": words, "x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container",
               "yanchor": "top", "pad": {"t": _TITLE, "l": 24}, "font": {"size": 17, "color": tones.text}},
        font={"family": _FONT, "size": 12, "color": tones.quiet},
        margin={"l": 64, "r": 24, "t": 54 + 22 * len(lines), "b": 56},
        hoverlabel={"align": "left", "namelength": -1, "bgcolor": colour(mixed(tones.text, tones.ground, 0.08)),
                    "bordercolor": tones.quiet, "font": {"color": tones.text, "family": _FONT}},
        legend={"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"},
    )  # fmt: skip
    style_axes(made, tones)
    return made


def style_axes(made: Figure, tones: Tones) -> None:
    """All axes that the figure has by now: quiet, a faint grid upwards."""
    axis = {
        "gridcolor": tones.faint, "linecolor": tones.quiet, "zerolinecolor": tones.quiet, "zerolinewidth": 1,
        "tickcolor": tones.quiet, "automargin": True,
    }  # fmt: skip
    made.update_xaxes(showgrid=False, showline=True, ticks="outside", zeroline=False, **axis)
    made.update_yaxes(showgrid=True, exponentformat="B", **axis)


def _nothing(made: Figure, content: Nothing, tones: Tones) -> None:
    made.update_xaxes(visible=False)
    made.update_yaxes(visible=False)
    made.add_annotation(
        text=escaped(content.why), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, name="nothing",
        font={"size": 14, "color": tones.quiet},
    )  # fmt: skip


def _panels(made: Figure, content: Panels, tones: Tones) -> None:
    """Plots with scales of their own; those below each other share the axis of places."""
    shared, rows = content.columns == 1, -(-len(content.panels) // content.columns)
    room = 0.36 if shared else 0.6  # axes of their own have words below them
    made.set_subplots(
        rows=rows, cols=content.columns, shared_xaxes=shared, vertical_spacing=min(room / 3, room / rows),
        horizontal_spacing=0.12 if content.columns > 1 else None,
        subplot_titles=[escaped(panel.title) for panel in content.panels],
    )  # fmt: skip
    style_axes(made, tones)
    for note, number in zip(made.layout.annotations, range(len(content.panels)), strict=False):
        x = made.layout[f"xaxis{number + 1 if number else ''}"].domain[0]
        note.update(x=x, xanchor="left", font={"size": 12, "color": tones.text})
    for number, panel in enumerate(content.panels):
        row, column = divmod(number, content.columns)
        draw: Any = stack if isinstance(panel, Stack) else steps
        draw(made, panel, tones, row=row + 1, col=column + 1)
        axis = across(panel.x, *content.across) if shared else {"nticks": 3}
        untitled = {"title": axis_title("")} if shared and row < rows - 1 else {}
        made.update_xaxes(axis | untitled, row=row + 1, col=column + 1)
    made.update_layout(showlegend=False)


_KINDS: Final[dict[type, Any]] = {
    Nothing: _nothing, Stack: stack, Steps: steps, Bars: bars, Flows: flows, Matrix: matrix, Panels: _panels,
}  # fmt: skip


def config() -> dict[str, Any]:
    """Settings for plotly.js: no upload, no link to plotly's site, no useless buttons."""
    return {
        "displaylogo": False, "showSendToCloud": False, "plotlyServerURL": "", "modeBarButtonsToRemove": list(_REMOVED),
        "responsive": True,
    }  # fmt: skip


class LocalFigure(Figure):  # type: ignore[misc]  # plotly has no types
    """A figure that is shown and written with `config()`, unless the caller sets a member differently."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The layout goes wherever the figure goes, into widgets and plotly.io's own functions too.
        self.update_layout(modebar={"remove": list(_REMOVED)})

    def to_dict(self) -> dict[str, Any]:
        """Return what is drawn, as `Figure.to_dict`; of a small figure what has room."""
        whole: dict[str, Any] = super().to_dict()
        return made_small(whole) if is_small(whole["layout"]) else whole

    def __reduce__(self) -> Any:
        made, (state,) = super().__reduce__()
        return made, (state | super().to_dict(),)  # a copy may be made larger

    def show(self, *args: Any, **options: Any) -> None:
        """Show it, as `Figure.show`."""
        super().show(*args, config=_with_ours(options.pop("config", None)), **options)

    def to_html(self, config: dict[str, Any] | None = None, *args: Any, **options: Any) -> str:
        """Return it as HTML, as `Figure.to_html`."""
        return str(super().to_html(_with_ours(config), *args, **options))

    def write_html(self, file: Any, config: dict[str, Any] | None = None, *args: Any, **options: Any) -> None:
        """Write it as HTML, as `Figure.write_html`."""
        super().write_html(file, _with_ours(config), *args, **options)

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        return super()._repr_mimebundle_(*args, config=_with_ours(options.pop("config", None)), **options)

    def _ipython_display_(self) -> None:
        if pio.renderers.render_on_display and pio.renderers.default:
            self.show()
        else:
            super()._ipython_display_()


def _with_ours(own: dict[str, Any] | None) -> dict[str, Any]:
    return config() | (own or {})
