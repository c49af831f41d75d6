"""`chart`: what every chart takes, checks and documents alike, and which library draws it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from importlib.util import find_spec
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from ledgerframes.arguments import choice, enough_memory, whole_number
from ledgerframes.docstrings import documented
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.plot.contents import Content, Nothing
from ledgerframes.plot.reading import ChartInput, has_hole, with_events

Backend = Literal["matplotlib", "plotly"]
#: The arguments that charts share.
_ARGUMENTS: Final = {
    "every": 'every: length of an interval, such as `"1h"`, `"1D"`; chosen from the range by default.',
    "top": "top: the number of names to show; the others are combined.",
    "opening": "opening: of a History, what was active before it, an `Opening` of `load_opening`.",
    "events": "events: what happened meanwhile, as thin lines with short labels: from `votes` or `config_changes`, or"
    "\n        a frame with the columns `time` and `text`.",
    "backend": 'backend: `"plotly"` for a figure to zoom into, with whole ids under the pointer; needs the extra'
    " `interactive`.",
    "ax": "ax: where matplotlib draws; a new figure by default.",
    "title": "title: in place of the chart's own.",
}
_RESULT: Final = "The Axes of matplotlib (`ax.figure.savefig(path)`), or a figure of plotly. Nothing is shown or saved."
_REFUSED: Final = "InputError: the frame lacks the columns, or an argument breaks a rule."
_NOT_WHOLE: Final = "PartialResultError: a History or Store that is not known to begin with the ledger."
_WITHOUT: Final = 'ConfigurationError: `backend="plotly"` without plotly.'


def chart(
    compute: Callable[..., Any], *, giver: str = "", over_time: bool = False, whole: bool = False
) -> Callable[[Callable[..., Content]], Callable[..., Any]]:
    """Create a public chart from the function that computes its content: with `backend`, `ax` and `title`.

    Where `compute` takes an `opening`, so does the chart.

    Args:
        compute: computes the frame that it draws from a History or Store, such as the function of a computed table.
        giver: the call that returns such a frame, for messages; by default that of `compute`.
        over_time: whether its x axis is time, so that it also takes `events`.
        whole: whether the frame can be computed only from a History or Store that begins with the ledger.
    """
    giver = giver or f"lf.{getattr(compute, '__name__', '')}(events)"
    takes = inspect.signature(compute).parameters
    if "decimals" in takes:
        compute = partial(compute, decimals="float")

    def decorated(make: Callable[..., Content]) -> Callable[..., Any]:
        def content(x: Any, ax: Any = None, opening: Any = None, **options: Any) -> Content:
            made = make(ChartInput(x, make.__name__, giver, compute, ax, opening), **options)
            return _with_hole(made) if has_hole(x) else made

        own = (*(("opening",) if "opening" in takes else ()), *(("events",) if over_time else ()))
        return _public(make, content, own, whole=whole)

    return decorated


def _with_hole(made: Content) -> Content:
    """A chart that says that a part of its range is missing."""
    note = "; a part of the range is missing"
    if isinstance(made, Nothing):
        return replace(made, why=made.why + note)
    return replace(made, subtitle=made.subtitle + note)


def _public(
    make: Callable[..., Content], content_of: Callable[..., Content], shared: Sequence[str], *, whole: bool
) -> Callable[..., Any]:
    @wraps(make)
    def drawn(
        x: Any,
        *,
        opening: Any = None,
        events: Any = None,
        backend: Backend = "matplotlib",
        ax: Any = None,
        title: str | None = None,
        **options: Any,
    ) -> Any:
        _check(backend, ax, title)
        _check_options(make, options)
        if events is not None and "events" not in shared:
            raise InputError(f"events= are lines at times, and {make.__name__} is not over time; leave them out")
        if opening is not None and "opening" not in shared:
            raise InputError(f"opening= does not change {make.__name__}; leave it out")
        with enough_memory(f"plot.{make.__name__}"):
            content = content_of(x, ax, opening, **options)
            content = content if events is None else with_events(content, events)
            if backend == "plotly":
                from ledgerframes.plot.interactive.figures import figure_of

                return figure_of(content, title)
            from ledgerframes.plot.static.charts import drawn_on

            return drawn_on(content, ax, title)

    first, *own = inspect.signature(make).parameters.values()
    names = (*shared, "backend", "ax", "title")
    common = [inspect.signature(drawn, follow_wrapped=False).parameters[name] for name in names]
    parameters = [first.replace(annotation="Any"), *own, *common]
    drawn.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    drawn.__annotations__ = {one.name: one.annotation for one in parameters}  # not those of what it is made from
    if text := inspect.getdoc(make):  # missing under python -OO
        errors = (_REFUSED, *((_NOT_WHOLE,) if whole else ()), _WITHOUT)
        arguments = (one.name for one in parameters)
        drawn.__doc__ = documented(text, arguments, _ARGUMENTS, errors, result=_RESULT)
    drawn.__wrapped__ = content_of
    return drawn


def _check_options(make: Callable[..., Content], options: Mapping[str, Any]) -> None:
    """Refuse an option that is not one of the words of its annotation, and a `top` below 1."""
    hints = get_type_hints(make)
    for name, value in options.items():
        if get_origin(words := hints.get(name)) is Literal:
            choice(value, name, get_args(words))
        elif name == "top" and value is not None:
            whole_number(value, name, least=1)


def need_plotly() -> None:
    """Refuse where plotly is not installed.

    Raises:
        ConfigurationError: it is not.
    """
    try:
        import plotly.graph_objects  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise ConfigurationError(
            "interactive charts need plotly; install it with: pip install 'ledgerframes[interactive]'"
        ) from error


def _check(backend: object, ax: object, title: object) -> None:
    choice(backend, "backend", get_args(Backend))
    if title is not None and not isinstance(title, str):
        raise InputError(f"title={title!r} is not valid: give text, or leave it out")
    if find_spec("matplotlib") is None:  # plotly's colours belong to its settings, too
        raise ConfigurationError("charts need matplotlib, which is not installed; run: pip install matplotlib")
    if backend == "plotly":
        if ax is not None:
            raise InputError(
                'ax= is for matplotlib; leave it out with backend="plotly", which returns a figure of its own'
            )
        need_plotly()
    elif ax is not None and not hasattr(ax, "transAxes"):
        raise InputError(f"ax={ax!r} is not a matplotlib Axes; take one from `figure, ax = plt.subplots()`")
