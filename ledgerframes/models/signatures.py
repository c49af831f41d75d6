"""The signatures that the tables share: what each returns follows from its `as_`, and what their arguments mean."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import wraps
from textwrap import fill
from typing import Any, Final, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, cast, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import enough_memory
from ledgerframes.frames import Decimals, check_shape
from ledgerframes.paging.window import Bound, Duration

P = ParamSpec("P")
R = TypeVar("R")
#: The arguments that tables have in common; a docstring of its own says what is special to its table.
_ARGUMENTS: Final = {
    "events": "events of `load_events`, a `History`, a `Store`, or a path of Parquet.",
    "opening": 'what was active before the events, an `Opening` of `load_opening`, or `"nothing"` if there were none.',
    "as_": '`"pandas"`, `"arrow"` or `"polars"`.',
    "decimals": 'how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the'
    ' events were loaded to hold them, else `"float"`.',
}
_RAISES: Final = "Raises:\n    InputError: an argument is not valid, or columns are missing.\n\n"


class FormOptions(TypedDict, total=False):
    """The keywords that every table takes, for overloads; a test compares them with the signatures."""

    decimals: Decimals | None


class OpeningOptions(FormOptions, total=False):
    """Likewise where contracts may have begun before the events."""

    opening: Any


class MomentOptions(OpeningOptions, total=False):
    """Likewise for a table that can be had at a time."""

    at: Bound | None


class IntervalOptions(FormOptions, total=False):
    """Likewise for a table of intervals."""

    every: Duration


class SeenOptions(IntervalOptions, total=False):
    """Likewise for a table of intervals that says what is new in each."""

    seen: Iterable[str] | None


class BalanceOptions(OpeningOptions, total=False):
    """Likewise for balances."""

    every: Duration
    parties: Iterable[str] | None


class ActiveOptions(TypedDict, total=False):
    """Likewise for active contracts, whatever they are of."""

    at: Bound | None
    template: str | None
    opening: Any


class FromEvents(Protocol):
    """A table of events alone."""

    @overload
    def __call__(self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[FormOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...


class FromOpening(Protocol):
    """A table of events and of contracts that began before them."""

    @overload
    def __call__(
        self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[OpeningOptions]
    ) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[OpeningOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[OpeningOptions]) -> Any: ...


class AtMoment(Protocol):
    """A table of what is there at a time."""

    @overload
    def __call__(self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[MomentOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[MomentOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[MomentOptions]) -> Any: ...


class ByInterval(Protocol):
    """A table of one row or more per interval."""

    @overload
    def __call__(
        self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[IntervalOptions]
    ) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[IntervalOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[IntervalOptions]) -> Any: ...


class ByIntervalAndSeen(Protocol):
    """A table of intervals that says what is new in each."""

    @overload
    def __call__(self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[SeenOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[SeenOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[SeenOptions]) -> Any: ...


class Balances(Protocol):
    """The table of balances."""

    @overload
    def __call__(
        self, events: Any, *, as_: Literal["pandas"] = ..., **form: Unpack[BalanceOptions]
    ) -> pd.DataFrame: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["arrow"], **form: Unpack[BalanceOptions]) -> pa.Table: ...

    @overload
    def __call__(self, events: Any, *, as_: Literal["polars"], **form: Unpack[BalanceOptions]) -> Any: ...


class FromReassignments(Protocol):
    """A table of reassignments."""

    @overload
    def __call__(self, reassignments: Any, *, as_: Literal["pandas"] = ...) -> pd.DataFrame: ...

    @overload
    def __call__(self, reassignments: Any, *, as_: Literal["arrow"]) -> pa.Table: ...

    @overload
    def __call__(self, reassignments: Any, *, as_: Literal["polars"]) -> Any: ...


class ActiveContracts(Protocol):
    """The table of active contracts."""

    @overload
    def __call__(
        self, events: Any, reassignments: Any = ..., *, as_: Literal["pandas"] = ..., **options: Unpack[ActiveOptions]
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self, events: Any, reassignments: Any = ..., *, as_: Literal["arrow"], **options: Unpack[ActiveOptions]
    ) -> pa.Table: ...

    @overload
    def __call__(
        self, events: Any, reassignments: Any = ..., *, as_: Literal["polars"], **options: Unpack[ActiveOptions]
    ) -> Any: ...


def from_events(function: Callable[..., Any]) -> FromEvents:
    """Declare the result of a table of events by its `as_`."""
    return cast("FromEvents", _checked(function))


def from_opening(function: Callable[..., Any]) -> FromOpening:
    """The same for a table of events and an opening."""
    return cast("FromOpening", _checked(function))


def at_moment(function: Callable[..., Any]) -> AtMoment:
    """The same for a table at a time."""
    return cast("AtMoment", _checked(function))


def by_interval(function: Callable[..., Any]) -> ByInterval:
    """The same for a table of intervals."""
    return cast("ByInterval", _checked(function))


def by_interval_and_seen(function: Callable[..., Any]) -> ByIntervalAndSeen:
    """The same for a table of intervals that says what is new in each."""
    return cast("ByIntervalAndSeen", _checked(function))


def by_party(function: Callable[..., Any]) -> Balances:
    """The same for balances."""
    return cast("Balances", _checked(function))


def from_reassignments(function: Callable[..., Any]) -> FromReassignments:
    """The same for a table of reassignments."""
    return cast("FromReassignments", _checked(function))


def active(function: Callable[..., Any]) -> ActiveContracts:
    """The same for active contracts."""
    return cast("ActiveContracts", _checked(function))


def _checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the form before anything is computed, and say which table was too large for the memory."""

    @wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        check_shape(cast("str", kwargs.get("as_", "pandas")), cast("str | None", kwargs.get("decimals")))
        with enough_memory(function.__name__):
            return function(*args, **kwargs)

    computed.__doc__ = function.__doc__ and _documented(function.__doc__, inspect.signature(function).parameters)
    return computed


def _documented(docstring: str, parameters: Iterable[str]) -> str:
    """The docstring of a table's function with the arguments that it has in common with others, and what it raises."""
    before, _, after = inspect.cleandoc(docstring).partition("Returns:\n")
    meaning, _, own = before.partition("Args:\n")
    said = {
        item.partition(":")[0]: " ".join(item.split()) for item in re.split(r"\n(?=\S)", inspect.cleandoc(own)) if item
    }
    items = [said.get(name) or f"{name}: {_ARGUMENTS[name]}" for name in parameters]
    listed = "\n".join(fill(item, 112, initial_indent=" " * 4, subsequent_indent=" " * 8) for item in items)
    raises = "" if "Raises:\n" in after else _RAISES
    return f"{meaning}Args:\n{listed}\n\nReturns:\n{after.replace('Example:', f'{raises}Example:', 1)}"
