"""Which library draws a picture; every picture that has both backends asks here first."""

from __future__ import annotations

from typing import Any, Literal

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.plots.drawing.columns import one_of

Backend = Literal["matplotlib", "plotly"]


def wants_plotly(backend: Backend, ax: Any) -> bool:
    """Whether plotly draws.

    Raises:
        InputError: the backend is neither of the two, or an Axes was given for plotly.
        ConfigurationError: plotly is not installed.
    """
    one_of(backend, "backend", ("matplotlib", "plotly"))
    if backend == "matplotlib":
        return False
    if ax is not None:
        raise InputError('ax= is for matplotlib; leave it out with backend="plotly", which returns a figure of its own')
    need_plotly()
    return True


def need_plotly() -> None:
    """Refuse where plotly is not installed.

    Raises:
        ConfigurationError: it is not.
    """
    try:
        import plotly.graph_objects  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise ConfigurationError(
            "interactive pictures need plotly; install it with: pip install 'ledgerframes[interactive]'"
        ) from error
