"""`load_verdicts`: every confirmation request of a part of the history, those without an update too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, Unpack, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.decoding.paged_histories import EVENT_HISTORY
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.history_reading import read_history
from ledgerframes.loaders.history_request import HistoryOptions, HistoryRequest
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration
from ledgerframes.results import html_frames

if TYPE_CHECKING:
    from ledgerframes.network import Network

Frame = TypeVar("Frame")
_TABLES: Final = ("verdicts", "views", "app_activity")
#: Columns to keep, by table name.
ByTable = Mapping[str, Iterable[str]] | None


class Verdicts(NamedTuple, Generic[Frame]):
    """What mediators decided in a part of the history.

    Attributes:
        verdicts: one row per confirmation request.
        views: one row per view of a request.
        app_activity: one row per app provider that a request gave activity to; empty on servers that send none.
    """

    verdicts: Frame
    views: Frame
    app_activity: Frame

    def _repr_html_(self) -> str:
        """The size of each table and where they come from, for notebooks."""
        return html_frames("Verdicts", self._asdict())


@overload
def load_verdicts(
    net: Network, *, as_: Literal["pandas"] = ..., columns: ByTable = ..., **options: Unpack[HistoryOptions]
) -> Verdicts[pd.DataFrame]: ...
@overload
def load_verdicts(
    net: Network, *, as_: Literal["arrow"], columns: ByTable = ..., **options: Unpack[HistoryOptions]
) -> Verdicts[pa.Table]: ...
@overload
def load_verdicts(
    net: Network, *, as_: Literal["polars"], columns: ByTable = ..., **options: Unpack[HistoryOptions]
) -> Verdicts[Any]: ...
@suggesting
def load_verdicts(
    net: Network,
    *,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    limit: int | None = None,
    columns: ByTable = None,
    page_size: int = MAXIMUM,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    allow_partial: bool = False,
    progress: bool | None = None,
) -> Verdicts[Any]:
    """Load what mediators decided in a part of the history, rejected and wholly private requests included.

    Endpoint: POST /v0/events. Reassignments have no verdict, so they have no row; their updates, like all others, are
    in `load_history`, with the same `update_id`.

    Without `start`, `end`, `last` or `limit` it loads the whole history if that is not more than 100,000 items and
    1 GB of answers; otherwise it raises an InputError that estimates the whole.

    Args:
        net: the network; its scan is asked.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"` for
            ledger begin. Without it, from the first item there: `attrs["begins_late"]` says where, if that is later.
        end: exclusive; a time or a pair. If no server has an item at or after it yet, `attrs["complete"]` is False,
            and `attrs["known_to"]` holds the last place read.
        last: `"1h"`, `"7 days"` or a timedelta, back from the newest update there; instead of `start`.
        limit: load at most this many verdicts.
        columns: the columns to keep, by table name; all by default.
        page_size: items per request; reduced where a server takes fewer.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.
        progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.

    Returns:
        Verdicts(verdicts, views, app_activity): one row per request, per view of a request, and per app provider that
        a request gave activity to, in the order of migration id, record time and the server. Times are UTC in
        microseconds, traffic is in bytes.

    Raises:
        InputError: an argument breaks a rule, the scan does not serve the route, or no part is named and the history
            is longer than that.
        RequestError: the servers gave no answer.
        DecodeError: an answer is not as scan's interface file says.
        PagingError: the pages contradict each other.
        PartialResultError: `start` lies before or behind what is there, or it was pruned while it was read.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=100) as net:
        ...     verdicts, views, app_activity = lf.load_verdicts(net, limit=50)
        >>> sorted(verdicts.result.unique())
        ['VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED']
    """
    request = HistoryRequest(
        history=EVENT_HISTORY, tables=_TABLES, columns=columns, start=start, end=end, last=last, limit=limit,
        page_size=page_size, as_=as_, decimals=held(net, decimals), lists=lists, allow_partial=allow_partial,
        progress=progress,
    )  # fmt: skip
    return Verdicts(**read_history(net, request))
