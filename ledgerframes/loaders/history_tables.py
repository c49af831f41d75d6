"""`load_updates`, `load_events`, `load_reassignments`: one table of the history each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Unpack, cast, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.frames import As, Decimals
from ledgerframes.loaders.history_reading import read_history
from ledgerframes.loaders.history_request import HistoryRequest, TableOptions
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


_DOCSTRING: Final = """Load the table `{table}` of a part of the update history (contract: POST /v2/updates).

    Without `start`, `end`, `last` or `limit` it loads the whole history if that is not more than 100,000 updates and
    1 GB of answers; otherwise it stops there and says what the whole would take.

    Args:
        net: the network; its scan is asked.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
        end: exclusive; a time or a pair. If no server has shown anything at or after it yet, `attrs["complete"]` is
            False, and `attrs["known_to"]` says how far it is known.
        last: count back from now: `"1h"`, `"7 days"`, a timedelta, or seconds; instead of `start`.
        limit: how many updates at most.
        columns: the columns to keep, in this order; all by default.
        page_size: how many items a request asks for; adapted to what the server can do.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.
        progress: True shows a bar, False nothing, None a bar where somebody looks.

    Returns:
        {rows}, in order of migration id, record time and the server's order.

    Raises:
        InputError: an argument breaks a rule, or no part is named and the history is long.
        RequestError: the servers gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the pages contradict each other.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox() as net:
        ...     frame = lf.load_{table}(net, limit=500, columns=["record_time", "update_id"])
        >>> list(frame.columns)
        ['record_time', 'update_id']
    """


def _loader(table: str, *, rows: str) -> LoadTable:
    """The loader of a table; `rows` says what a row is."""

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
        decimals: Decimals = "object",
        allow_partial: bool = False,
        progress: bool | None = None,
    ) -> Any:
        request = HistoryRequest(
            tables=(table,), columns={table: columns}, start=start, end=end, last=last, limit=limit,
            page_size=page_size, as_=as_, decimals=decimals, allow_partial=allow_partial, progress=progress,
        )  # fmt: skip
        return read_history(net, request)[table]

    load.__name__ = load.__qualname__ = f"load_{table}"
    load.__doc__ = _DOCSTRING.format(table=table, rows=rows)
    return cast("LoadTable", suggesting(load))


load_updates: Final = _loader("updates", rows="One row per update")
load_events: Final = _loader("events", rows="One row per event of a transaction, in preorder")
load_reassignments: Final = _loader("reassignments", rows="One row per leg of a reassignment")
