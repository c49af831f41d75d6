"""The page itself: text, tables and pictures as HTML that needs nothing else; whatever comes in is escaped here."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from ledgerframes.errors import visible

_MOST_ROWS: Final = 25
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2330; --quiet: #5b6472; --line: #d9dee6; --ground: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebf0; --quiet: #9aa4b2; --line: #333b47; --ground: #14181f; }
  figure { background: #ffffff; border-radius: 6px; padding: 8px; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 62rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.8rem; margin-bottom: .2rem; } h2 { margin-top: 2.6rem; border-top: 1px solid var(--line);
  padding-top: 1.2rem; font-size: 1.25rem; } p.quiet, caption, figcaption { color: var(--quiet); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .3rem; } th, td { text-align: left; padding: .25rem .9rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; } td.number, th.number { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; } img { max-width: 100%; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        title: its heading.
        parts: HTML, made by the functions here.
    """

    title: str
    parts: Sequence[str]


def page(title: str, subtitle: str, sections: Iterable[Section]) -> str:
    """The whole page."""
    body = "".join(f"<h2>{escape(section.title)}</h2>{''.join(section.parts)}" for section in sections)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1><p class='quiet'>{escape(subtitle)}</p>{body}</body></html>\n"
    )


def escape(value: Any) -> str:
    """Text that a browser shows as it is; what is not printable is shown by its code."""
    return html.escape(visible(str(value), lines=True))


def text(words: str, *, quiet: bool = False) -> str:
    """A paragraph."""
    return f"<p class='quiet'>{escape(words)}</p>" if quiet else f"<p>{escape(words)}</p>"


def table(frame: pd.DataFrame, caption: str = "", *, most: int = _MOST_ROWS) -> str:
    """A frame as a table, its first rows at most."""
    numbers = {name for name in frame.columns if _is_number(frame[name])}
    head = "".join(_cell("th", name.replace("_", " "), number=name in numbers) for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(_cell("td", _said(value), number=name in numbers) for name, value in row.items()) + "</tr>"
        for row in frame.head(most).to_dict("records")
    )
    left = len(frame) - most
    words = caption + (f" (the first {most} of {len(frame):,})" if left > 0 else "")
    title = f"<caption>{escape(words)}</caption>" if words else ""
    return f"<div class='wide'><table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def picture(axes: Any, words: str) -> str:
    """A picture, inside of the page, with words for those who do not see it."""
    import matplotlib.pyplot as plt

    sink = io.BytesIO()
    axes.figure.savefig(sink, format="png", dpi=130)
    plt.close(axes.figure)
    data = base64.b64encode(sink.getvalue()).decode()
    return f"<figure><img alt='{escape(words)}' src='data:image/png;base64,{data}'></figure>"


def _cell(tag: str, words: str, *, number: bool) -> str:
    return f"<{tag}{' class=number' if number else ''}>{escape(words)}</{tag}>"


def _is_number(column: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(column):
        return False
    return pd.api.types.is_numeric_dtype(column) or any(isinstance(value, Decimal) for value in column.head(5))


def _said(value: Any) -> str:
    """A cell's text: times to the second, names as people shorten them, nothing for what is missing."""
    if isinstance(value, tuple | list):
        return ", ".join(map(_said, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(member)}" for name, member in list(value.items())[:6])
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, Decimal):
        return format(value, ",f")
    if isinstance(value, int):
        return f"{value:,}"
    words = str(value)
    name, mark, print_ = words.partition("::")
    if mark and len(print_) > 12:
        return f"{name}::{print_[:6]}…"
    return words if len(words) <= 60 else f"{words[:24]}…"
