"""A plotly figure that offers no way to send the chart elsewhere; every interactive chart is one."""

from __future__ import annotations

from typing import Any, Final

import plotly.io as pio
from plotly.graph_objects import Figure

#: In plotly 7 "Share chart…" uploads the figure's data; older versions have the same under other names.
_REMOVED: Final = ("sendChartToCloud", "sendDataToCloud", "editInChartStudio", "select2d", "lasso2d", "autoScale2d")


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
