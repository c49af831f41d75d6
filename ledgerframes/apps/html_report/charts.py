"""Charts that a reader can zoom into, with everything they need inside the page; the report's sections call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Literal

from ledgerframes.apps.html_report.page import escape, picture
from ledgerframes.plot.themes import style

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


def chart(draw: Callable[..., Any], words: str, *, interactive: bool) -> str:
    """A chart that has two backends, as an image or to zoom into.

    Args:
        draw: draws it; takes `backend`.
        words: a description, for readers who do not see it.
        interactive: to zoom into.
    """
    if not interactive:
        return picture(draw, words)
    specs = "".join(_spec(draw, theme) for theme in ("light", "dark"))
    without = "<noscript>This chart needs JavaScript; a report without interactive=True does not.</noscript>"
    return f"<figure class='chart'><div role='img' aria-label='{escape(words)}'></div>{specs}{without}</figure>"


def scripts() -> tuple[str, str]:
    """The scripts for the head and the end of a page with such charts, loading nothing from elsewhere."""
    from plotly.offline import get_plotlyjs

    from ledgerframes.plot.interactive.local_figure import config

    return POLICY, f"<script>{get_plotlyjs()}</script><script>const CONFIG = {json.dumps(config())};{_DRAW}</script>"


def scripts_megabytes() -> float:
    """How large those are."""
    return sum(map(len, scripts())) / 1e6


def _spec(draw: Callable[..., Any], theme: Literal["light", "dark"]) -> str:
    with style(theme):
        figure = draw(backend="plotly")
    spec = json.loads(figure.to_json())
    whole = json.dumps({"data": spec["data"], "layout": spec["layout"]}, separators=(",", ":"), ensure_ascii=False)
    # In a script nothing is escaped; a name on the ledger could end it.
    return f"<script type='application/json' class='{theme}'>{whole.replace('<', chr(92) + 'u003c')}</script>"
