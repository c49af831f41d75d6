"""The page itself: text, tables and charts as HTML that needs nothing else; all input is escaped here."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, Self

import pandas as pd

from ledgerframes.plot.contents import Content
from ledgerframes.plot.palette import style
from ledgerframes.plot.static.vectors import ENDED, drawing_process, drawn_by, in_both
from ledgerframes.showing import cell, escape, ids_of, is_number, labelled
from ledgerframes.stopping import Stop
from ledgerframes.threads import result, spawn

_MOST_ROWS: Final = 25
_SHORT: Final = 24  # characters of a cell that is not broken
_JOINT: Final = re.compile(r"(?<=\w[.:_])(?=\w)")  # where a longer name may be broken
_STYLE: Final = """
:root { color-scheme: light; --ink: #1c2330; --quiet: #5b6472; --line: #d9dee6; --ground: #ffffff; --shade: #1c233038; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e8ebf0; --quiet: #9aa4b2; --line: #333b47; --ground: #14181d;
    --shade: #000000c0; } img.light { display: none; }
}
@media not screen, (prefers-color-scheme: light) { img.dark { display: none; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 62rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.8rem; margin-bottom: .2rem; } h2 { margin-top: 2.6rem; border-top: 1px solid var(--line);
  padding-top: 1.2rem; font-size: 1.25rem; } p.quiet, caption, figcaption { color: var(--quiet); }
/* Where a table goes on beyond the edge, a shade says so; the grounds, which move along, cover it at both ends. */
.wide { overflow-x: auto; background: linear-gradient(to right, var(--ground) 40%, transparent) 0 0 / 3rem 100% local,
    linear-gradient(to left, var(--ground) 40%, transparent) 100% 0 / 3rem 100% local,
    linear-gradient(to right, var(--shade), transparent) 0 0 / 1rem 100% scroll,
    linear-gradient(to left, var(--shade), transparent) 100% 0 / 1rem 100% scroll; background-repeat: no-repeat; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .3rem; } caption span { display: block; position: sticky; left: 0;
  width: max-content; max-width: calc(100vw - 2.5rem); }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } td.short, td.time, td.number { white-space: nowrap; }
td.number, th.number { text-align: right; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 1rem 0; } nav a { color: var(--quiet); }
p, h1 { overflow-wrap: anywhere; } figure { margin: 1rem 0; } img { max-width: 100%; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .9rem; margin: 1rem 0; }
.figure { border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; display: flex;
  flex-direction: column; break-inside: avoid; } .figure b { font-size: 1.6rem; line-height: 1.25; }
.figure .name { font-weight: 600; } .figure .unit { color: var(--quiet); font-size: .85rem;
  white-space: pre-line; }
.figure .change { font-variant-numeric: tabular-nums; } .unknown b { color: var(--quiet); font-size: 1.1rem; }
ul { padding-left: 1.2rem; } li.quiet { color: var(--quiet); }
@media screen and (max-width: 40rem) { figure { overflow-x: auto; } figure img { min-width: 42rem; }
  figure.chart > div { min-width: 42rem; } .figures { grid-template-columns: 1fr 1fr; } body { margin-top: 1rem; } }
@media print { nav { display: none; }
  body { margin: 0; max-width: none; font-size: 10px; } h2 { break-after: avoid; margin-top: 1.4rem; }
  figure, tr, .wide { break-inside: avoid; } thead { display: table-header-group; }
  .wide { overflow: visible; background: none; } .figures { grid-template-columns: repeat(3, 1fr); }
  h2 + p { break-after: avoid; } .modebar { display: none; } .figure .unit { font-size: inherit; }
  td, th { padding-right: .5rem; } }
@page { margin: 15mm; }
"""
#: Nothing is loaded from elsewhere, whatever the chart library tries; it creates functions from text.
POLICY: Final = (
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; img-src data: blob:;"
    " style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'\">"
)
_PAPER: Final = "660px"  # between the margins of A4
_DRAW: Final = f"""
(() => {{
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const draw = (theme, width) => {{
    for (const chart of document.querySelectorAll('figure.chart')) {{
      const div = chart.querySelector('div'), spec = JSON.parse(chart.querySelector('script.' + theme).textContent);
      div.style.width = width;
      // Not react: it fades ribbons in, and paper would lack them.
      Plotly.newPlot(div, spec.data, spec.layout, CONFIG);
    }}
  }};
  const now = () => draw(dark.matches ? 'dark' : 'light', '');
  dark.addEventListener('change', now);
  addEventListener('beforeprint', () => draw('light', '{_PAPER}'));
  addEventListener('afterprint', now);
  now();
}})();
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


def page(title: str, subtitle: str, sections: Iterable[Section], *, head: str = "", foot: str = "") -> str:
    """The whole page, with links to its sections; `head` and `foot` are HTML that scripts need."""
    made = list(sections)
    anchors = [section.title.lower().replace(" ", "-") for section in made]
    body = "".join(
        f"<h2 id='{escape(anchor)}'>{escape(section.title)}</h2>{''.join(section.parts)}"
        for anchor, section in zip(anchors, made, strict=True)
    )
    links = "".join(
        f"<a href='#{escape(anchor)}'>{escape(section.title)}</a>"
        for anchor, section in zip(anchors, made, strict=True)
    )
    contents = f"<nav aria-label='Contents'>{links}</nav>" if len(made) > 1 else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style>{head}</head>"
        f"<body><h1>{escape(title)}</h1><p class='quiet'>{escape(subtitle)}</p>{contents}{body}{foot}</body></html>\n"
    )


def text(words: str, *, quiet: bool = False) -> str:
    """A paragraph."""
    return f"<p class='quiet'>{escape(words)}</p>" if quiet else f"<p>{escape(words)}</p>"


def listed(lines: Mapping[str, bool]) -> str:
    """A list of sentences, by whether each of them is quiet."""
    points = (f"<li{' class=quiet' if quiet else ''}>{escape(words)}</li>" for words, quiet in lines.items())
    return f"<ul>{''.join(points)}</ul>" if lines else ""


def table(frame: pd.DataFrame, caption: str = "", *, most: int = _MOST_ROWS, whole: bool = False) -> str:
    """A frame as a table, limited to its first rows, with labels next to ids; `whole` shortens no text."""
    frame = labelled(frame, most).frame
    numbers = {name for name in frame.columns if is_number(frame[name])}
    ids = ids_of(frame, most)
    head = "".join(_cell("th", name.replace("_", " "), number=name in numbers) for name in frame.columns)
    rows = "".join(
        "<tr>"
        + "".join(_value(str(name), value, ids, number=name in numbers, whole=whole) for name, value in row.items())
        + "</tr>"
        for row in frame.head(most).to_dict("records")
    )
    left = len(frame) - most
    words = caption + (f" ({most} of {len(frame):,})" if left > 0 else "")
    title = f"<caption><span>{escape(words)}</span></caption>" if words else ""
    return f"<div class='wide'><table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


class Charts:
    """The charts of a page: within its context they are drawn one by one, while the caller computes on.

    Args:
        interactive: to zoom into.
    """

    def __init__(self, *, interactive: bool = False) -> None:
        self._interactive = interactive
        self._made: dict[str, Future[str]] = {}
        self._drawing, self._opened = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, content: Content, words: str) -> str:
        """A mark that `into` replaces by the chart; all other text has none, as it is escaped."""
        mark = f"<!--chart {len(self._made)}-->"
        self._made[mark] = spawn(partial(self._draw, content, words), "ledgerframes-chart")
        return mark

    def _draw(self, content: Content, words: str) -> str:
        with self._drawing:  # settings of matplotlib are those of all threads
            if self._process is not None and self._opened:
                with suppress(*ENDED):
                    return _picture(*drawn_by(self._process, content), words)
            if not self._opened:
                return ""
            return _zoomable(content, words) if self._interactive else _picture(*in_both(content), words)

    def into(self, page: str, stop: Stop) -> str:
        """The page with its charts."""
        for mark, drawn in self._made.items():
            stop.check()
            page = page.replace(mark, result(drawn))
        return page

    def __enter__(self) -> Self:
        self._opened = True
        self._process = None if self._interactive else drawing_process()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened = False
        if self._process is not None:
            self._process.kill()
        with self._drawing:  # then the settings are as before
            pass
        if self._process is not None:
            self._process.communicate()


def _picture(light: str, dark: str, words: str) -> str:
    """A chart as vectors, inside of the page, light and dark, with a description for readers who do not see it."""
    both = (("light", light), ("dark", dark))
    # The style shows one of them: a browser that prints keeps the source of a <picture> that the screen had.
    drawn = (f"<img class={theme} alt='{escape(words)}' src='{_url(svg)}'>" for theme, svg in both)
    return f"<figure>{''.join(drawn)}</figure>"


def _url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _cell(tag: str, words: str, *, number: bool, title: str = "", short: bool = False) -> str:
    kind = " class=number" if number else " class=short" if short else ""
    shown = escape(words) if number or short else _JOINT.sub("<wbr>", escape(words))
    return f"<{tag}{kind}{f' title={chr(39)}{escape(title)}{chr(39)}' if title else ''}>{shown}</{tag}>"


def _value(column: str, value: Any, ids: Mapping[str, str], *, number: bool, whole: bool) -> str:
    """A cell: an amount with two decimals and the exact one as its title, an id by its name with the whole as title."""
    shown = cell(value, column, ids, whole=whole)
    if isinstance(value, pd.Timestamp):
        return f"<td class=time>{escape(shown.words)}</td>"
    return _cell("td", shown.words, number=number, title=shown.whole, short=len(shown.words) <= _SHORT)


def _zoomable(content: Content, words: str) -> str:
    specs = "".join(_spec(content, theme) for theme in ("light", "dark"))
    without = "<noscript>This chart needs JavaScript; a report without interactive=True does not.</noscript>"
    return f"<figure class='chart'><div role='img' aria-label='{escape(words)}'></div>{specs}{without}</figure>"


def scripts() -> tuple[str, str]:
    """The scripts for the head and the end of a page with such charts, loading nothing from elsewhere."""
    from plotly.offline import get_plotlyjs

    from ledgerframes.plot.interactive.figures import config

    return POLICY, f"<script>{get_plotlyjs()}</script><script>const CONFIG = {json.dumps(config())};{_DRAW}</script>"


def _spec(content: Content, theme: Literal["light", "dark"]) -> str:
    from ledgerframes.plot.interactive.figures import figure_of

    with style(theme):
        figure = figure_of(content, None)
    spec = json.loads(figure.to_json())
    whole = json.dumps({"data": spec["data"], "layout": spec["layout"]}, separators=(",", ":"), ensure_ascii=False)
    # In a script nothing is escaped; a name on the ledger could end it.
    return f"<script type='application/json' class='{theme}'>{whole.replace('<', chr(92) + 'u003c')}</script>"
