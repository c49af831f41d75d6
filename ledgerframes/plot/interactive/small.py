"""Figures of few pixels: they leave out what drawings of 3 by 2 inches leave out; `figures` calls it."""

from __future__ import annotations

import html
import re
import textwrap
from typing import Any, Final

_NARROW, _LOW = 420, 170  # pixels
_LETTER: Final = 8.0  # of a title
_SIZE: Final = 9  # of other texts
_LEAST: Final = 4.8
_LONGEST: Final = 10  # characters of a total after a bar
_LEFT_OUT: Final = frozenset({"event", "status"})
_BUTTONS: Final = ("toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "resetSankeyGroup")


def is_small(layout: dict[str, Any]) -> bool:
    """Whether a figure was given a size in which axes would have no room next to their words."""
    return bool(layout.get("width", _NARROW) < _NARROW or layout.get("height", _LOW) < _LOW)


def made_small(figure: dict[str, Any]) -> dict[str, Any]:
    """The figure without subtitle, legend and labels of axes, its other texts smaller."""
    layout = figure["layout"]
    notes = [
        {**note, "font": {**note.get("font", {}), "size": _SIZE}}
        for note in layout.get("annotations", ())
        if note.get("name") not in _LEFT_OUT and (note.get("name") != "total" or len(note.get("text", "")) <= _LONGEST)
    ]
    above = max((12 + note.get("yshift", 0) for note in notes if note.get("yanchor") == "bottom"), default=0)
    top = 14 + 17 * _titled(layout) + above
    layout |= {"annotations": notes, "showlegend": False, "margin": {"l": 8, "r": 12, "t": top, "b": 8}}
    layout["font"] = {**layout.get("font", {}), "size": _SIZE}
    removed = layout.get("modebar", {}).get("remove", ())
    removed = [removed] if isinstance(removed, str) else removed
    layout["modebar"] = {**layout.get("modebar", {}), "remove": [*removed, *_BUTTONS]}  # they would hide the title
    height = max(layout.get("height", _LOW) - top - 30, 20)
    for name, axis in layout.items():
        if name.startswith(("xaxis", "yaxis")):
            upward = name.startswith("yaxis")
            _small_axis(axis, height if upward else layout.get("width", 1000) / 2, upward=upward)
    for trace in figure["data"]:
        if trace["type"] == "sankey":
            # The caller may have changed its nodes: plotly places those without x, and a name alone has no total.
            node = trace.setdefault("node", {})
            places, labels = (node.get(name) for name in ("x", "label"))
            most = max(map(places.count, places), default=1) if isinstance(places, list | tuple) else 1
            trace["textfont"] = {**trace.get("textfont", {}), "size": _size(most, height)}
            if isinstance(labels, list | tuple):
                node["label"] = [str(label).rpartition("  ")[0] or label for label in labels]
            if "pad" in node:
                node["pad"] *= height / 400
        elif trace["type"] == "heatmap":
            trace["colorbar"] = {**trace.get("colorbar", {}), "title": {"text": ""}, "thickness": 8}
            trace.pop("texttemplate", None)
    return figure


def _small_axis(axis: dict[str, Any], room: float, *, upward: bool) -> None:
    """Leave out the label, and write few ticks; names as large as they have room."""
    start, end = axis.get("domain", (0, 1))
    alone = end - start > 0.5
    size = _size(len(axis.get("ticktext", ())), room) if alone else _SIZE - 1
    axis |= {"title": {"text": ""}, "nticks": 4 if alone else 2, "tickfont": {"size": size}}
    if not upward and "tickvals" not in axis:
        axis["tickangle"] = 0


def _size(texts: int, room: float) -> float:
    """The size of so many texts below each other."""
    return max(min(_SIZE, room / max(texts, 1) / 1.25), _LEAST)


def _titled(layout: dict[str, Any]) -> int:
    """Leave the title alone, in as many lines as its width takes, and count them."""
    title = layout.get("title", {})
    words = html.unescape(re.sub("<.*?>", "", title.get("text", "").partition("<br>")[0]))
    lines = textwrap.wrap(words, int(layout.get("width", 1000) / _LETTER)) or [""]
    text = "<br>".join(f"<b>{html.escape(line, quote=False)}</b>" for line in lines)
    layout["title"] = {**title, "text": text, "pad": {"t": 16, "l": 8}, "font": {**title.get("font", {}), "size": 13}}
    return len(lines)
