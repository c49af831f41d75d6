"""`plot_reassignment_flows`: an alluvial picture of which synchronizer contracts left and where they went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from ledgerframes.plots.alluvial import Words, draw_alluvial, foot_of, room
from ledgerframes.plots.drawing.columns import at_least_one
from ledgerframes.plots.drawing.contents import Flows, Nothing
from ledgerframes.plots.drawing.counts import counted_routes, ranked, route_rows, span, statuses, traffic
from ledgerframes.plots.drawing.layout import axes, finish, nothing, picture
from ledgerframes.plots.drawing.number_format import count_text, plural
from ledgerframes.plots.drawing.palette import inside
from ledgerframes.plots.drawing.ribbons import lay_out
from ledgerframes.plots.drawing.status_styles import status_keys
from ledgerframes.plots.interactive.backend import Backend, wants_plotly
from ledgerframes.plots.interactive.routes import flows_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURE: Final = "plot_reassignment_flows"
_TITLE: Final = "Reassignments between synchronizers"
_MOST: Final = 20
_WORDS: Final = Words("unassigned from", "assigned to", lambda size: count_text(int(size)), "synchronizer")


@picture
def plot_reassignment_flows(
    flows: Any, *, top: int | None = None, backend: Backend = "matplotlib", ax: Axes | None = None
) -> Any:
    """Draw which synchronizers contracts were reassigned from (left) and to (right).

    The width of a ribbon is its number of reassignments, its colour that of the source; synchronizers have the same
    order on both sides, so a ribbon and its return cross. Those in flight are outlined, repaired ones and those without
    an unassignment are hatched; ribbons too thin for that are only paler.

    Args:
        flows: one row per reassignment, from `reassignment_flows`, or counts from `flow_matrix`.
        top: how many synchronizers to show by name; the others are combined. As many as the height has room for,
            up to 20, by default.
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
        ...     flows = lf.reassignment_flows(lf.load_reassignments(net))
        >>> lf.plot_reassignment_flows(flows).get_title(loc="left")
        'Reassignments between synchronizers'
    """
    at_least_one(top, "top")
    interactive = wants_plotly(backend, ax)
    frame = route_rows(flows, _PICTURE)
    counted = counted_routes(frame, _PICTURE)
    if interactive:
        return flows_figure(_content(frame, counted, top or _MOST))
    rows = min(len(traffic(counted)), top or _MOST)
    ax = axes(ax, size=(9.2, min(max(3.8, 1.6 + 0.27 * rows), 7.6)))
    content = _content(frame, counted, top or min(_MOST, room(ax)))
    if isinstance(content, Nothing):
        return nothing(ax, content.title, content.why)
    keys = status_keys(content.statuses, inside(ax))
    foot = foot_of(ax) if keys else 4
    draw_alluvial(ax, content.alluvial, content.ranking, _WORDS, foot)
    return finish(ax, content.title, content.second, keys, foot=foot)


def _content(frame: pd.DataFrame, counted: pd.DataFrame, top: int) -> Flows | Nothing:
    if counted.empty:
        return Nothing(_TITLE, "no reassignments in this range")
    ranking = ranked(traffic(counted), top)
    folded = counted.assign(source=ranking.folded(counted["source"]), target=ranking.folded(counted["target"]))
    folded = folded.groupby(["source", "target", "status"], as_index=False, sort=False)["count"].sum()
    folded = folded.rename(columns={"count": "size"})
    there = statuses(counted)
    second = ", ".join(filter(None, [plural(int(counted["count"].sum()), "reassignment"), span(frame)]))
    return Flows(_TITLE, second, lay_out(folded, ranking.names, list(there)), ranking, there)
