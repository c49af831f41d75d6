"""Texts, numbers, times and colours as plotly takes them."""

from __future__ import annotations

import html
from math import ceil, log10
from typing import Any, Final

import numpy as np

from ledgerframes.errors import visible
from ledgerframes.number_format import scale_text
from ledgerframes.plot.bins import within_years
from ledgerframes.plot.contents import Axis, Floats, Micros
from ledgerframes.plot.palette import RGB

_DIGITS: Final = 15  # of a double
_DECIMALS: Final = 10  # of an amount
#: How an axis of times writes its ticks, by their distance: as drawings do.
TIMES: Final = [
    {"dtickrange": [None, 999], "value": "%H:%M:%S.%L\n%Y-%m-%d"},
    {"dtickrange": [1_000, 59_999], "value": "%H:%M:%S\n%Y-%m-%d"},
    {"dtickrange": [60_000, 86_399_999], "value": "%H:%M\n%Y-%m-%d"},
    {"dtickrange": [86_400_000, 2_500_000_000], "value": "%-d %b\n%Y"},
    {"dtickrange": ["M1", "M11"], "value": "%b\n%Y"},
    {"dtickrange": ["M12", None], "value": "%Y"},
]
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def escaped(text: str) -> str:
    """Text that plotly shows unchanged: it interprets a part of HTML, and ids and names come from a ledger."""
    return html.escape(visible(text), quote=False)


def hover(label: str, name: str | None, *lines: str) -> str:
    """The tooltip: the label, the whole id if it differs from the label, and the lines."""
    whole = [] if name is None or "::" not in name or name == label else [name]
    return "<br>".join([f"<b>{escaped(label)}</b>", *map(escaped, whole), *(escaped(line) for line in lines if line)])


def exact(value: float) -> str:
    """An amount with all digits of its double, at most ten after the point."""
    before = len(f"{abs(value):.0f}")
    number = f"{value:,.{min(_DECIMALS, max(0, _DIGITS - before))}f}"
    return number.rstrip("0").rstrip(".") if "." in number else number


def with_unit(value: float, unit: str) -> str:
    """An exact amount and its unit."""
    return f"{exact(value)} {unit.removesuffix('s') if value == 1 and unit.endswith('s') else unit}".strip()


def along(axis: Axis, values: Floats | Micros) -> Any:
    """Values as plotly places them: times as text."""
    if axis.scale != "time":
        return np.asarray(values, dtype=np.float64)
    return [str(text) for text in np.datetime_as_string(within_years(np.asarray(values, dtype=np.int64)), unit="ms")]


def amounts(low: float, high: float) -> dict[str, Any]:
    """How an axis of amounts writes its ticks: 1.5 M and 55 k, as drawings do."""
    most = max(abs(low), abs(high))
    if not 1e4 <= most < 1e15:  # its own would be 10k, and 1.5n
        return {"tickformat": f",.{_DECIMALS}~f"} if most < 1e4 else {}
    # plotly places them by ones, twos and fives of a power of ten, ten times as close once a reader has zoomed in.
    span = (high - low) or most
    step = 10.0 ** max(ceil(log10(span / 500)), 0)
    ticks = [step * place for place in range(int((low - span / 2) // step), int((high + span / 2) // step))]
    return {"tickformat": ".12~s", "labelalias": {_si(tick): scale_text(tick, most) for tick in ticks if tick}}


def _si(value: float) -> str:
    """A number as plotly's format ~s has it, with its minus sign."""
    unit, prefix = next((pair for pair in _PREFIXES if abs(value) >= pair[0]), (1.0, ""))
    return f"{value / unit:.12g}{prefix}".replace("-", "\N{MINUS SIGN}")


def colour(value: str | RGB, alpha: float = 1.0) -> str:
    """A colour as plotly writes it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (round(255 * part) for part in to_rgb(value))
    return f"rgba({red},{green},{blue},{alpha:g})"


def axis_title(text: str) -> dict[str, Any]:
    """The label of an axis."""
    return {"text": escaped(text), "font": {"size": 12}}
