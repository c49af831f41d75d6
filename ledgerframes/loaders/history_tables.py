"""`load_updates`, `load_events`, `load_reassignments`: one table of the history each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Unpack, cast, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.event_choice import EventChoice
from ledgerframes.loaders.history_reading import read_history
from ledgerframes.loaders.history_request import EventOptions, HistoryRequest, TableOptions
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration

if TYPE_CHECKING:
    from ledgerframes.network import Network


class LoadTable(Protocol):
    """A loader of one table of the history, as type checkers and editors see it."""

    @overload
    def __call__(self, net: Network, *, as_: Literal["pandas"] = ..., **keys: Unpack[TableOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["arrow"], **keys: Unpack[TableOptions]) -> pa.Table: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["polars"], **keys: Unpack[TableOptions]) -> Any: ...


class LoadEvents(Protocol):
    """The loader of events, as type checkers and editors see it."""

    @overload
    def __call__(self, net: Network, *, as_: Literal["pandas"] = ..., **keys: Unpack[EventOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["arrow"], **keys: Unpack[EventOptions]) -> pa.Table: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["polars"], **keys: Unpack[EventOptions]) -> Any: ...


_DOCSTRING: Final = """Load the table `{table}` of a part of the update history (contract: POST /v2/updates).

    Without `start`, `end`, `last` or `limit` it loads the whole history if that is not more than 100,000 updates and
    1 GB of answers; otherwise it raises an InputError that estimates the whole.

    Args:
        net: the network; its scan is asked.{more}
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"` for
            ledger begin. Without it, from the first item there: `attrs["begins_late"]` says where, if that is later.
        end: exclusive; a time or a pair. If no server has an update at or after it yet, `attrs["complete"]` is False,
            and `attrs["known_to"]` holds the last place read.
        last: `"1h"`, `"7 days"` or a timedelta, back from the newest update there; instead of `start`.
        limit: load at most this many updates.
        columns: the columns to keep, in this order; all by default.
        page_size: items per request; reduced where a server takes fewer.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.
        progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.

    Returns:
        {rows}, in the order of migration id, record time and the server. Times are UTC in microseconds;
        `lf.describe("{table}")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule, or no part is named and the history is longer than that.
        RequestError: the servers gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the pages contradict each other.
        PartialResultError: `start` lies before or behind what is there, or it was pruned while it was read.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     frame = lf.load_{table}(net, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """


_ONLY: Final = """
        template: keep only events of this template, as Module:Entity, or of one of several. The pages are read all the
            same, and what is not wanted of each is dropped. `attrs["only"]` says so, and computed tables, which need
            all events, refuse the frame.
        party: keep only events in which this party acts, signs or observes, or one of several.
        choice: keep only exercises of this choice, or of one of several."""


def _loader(table: str, *, rows: str) -> LoadTable:
    """Make the loader of a table; `rows` states what a row is."""

    def load(
        net: Network,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        last: Duration | None = None,
        limit: int | None = None,
        columns: Iterable[str] | None = None,
        page_size: int = MAXIMUM,
        as_: As = "pandas",
        decimals: Decimals | None = None,
        lists: Lists = "tuple",
        allow_partial: bool = False,
        progress: bool | None = None,
    ) -> Any:
        request = HistoryRequest(
            tables=(table,), columns={table: columns}, start=start, end=end, last=last, limit=limit,
            page_size=page_size, as_=as_, decimals=held(net, decimals), lists=lists, allow_partial=allow_partial,
            progress=progress,
        )  # fmt: skip
        return read_history(net, request)[table]

    return cast("LoadTable", _documented(load, table, rows=rows))


def _documented(load: Callable[..., Any], table: str, *, rows: str, more: str = "") -> Callable[..., Any]:
    load.__name__ = load.__qualname__ = f"load_{table}"
    load.__doc__ = _DOCSTRING.format(table=table, rows=rows, more=more)
    return suggesting(load)


def _load_events(
    net: Network,
    *,
    template: str | Iterable[str] | None = None,
    party: str | Iterable[str] | None = None,
    choice: str | Iterable[str] | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    limit: int | None = None,
    columns: Iterable[str] | None = None,
    page_size: int = MAXIMUM,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    allow_partial: bool = False,
    progress: bool | None = None,
) -> Any:
    request = HistoryRequest(
        tables=("events",), columns={"events": columns}, start=start, end=end, last=last, limit=limit,
        page_size=page_size, as_=as_, decimals=held(net, decimals), lists=lists, allow_partial=allow_partial,
        progress=progress, only=EventChoice.of(template=template, party=party, choice=choice),
    )  # fmt: skip
    return read_history(net, request)["events"]


load_updates: Final = _loader("updates", rows="One row per update")
load_events: Final = cast(
    "LoadEvents",
    _documented(_load_events, "events", rows="One row per event of a transaction, in preorder", more=_ONLY),
)
load_reassignments: Final = _loader("reassignments", rows="One row per leg of a reassignment")
