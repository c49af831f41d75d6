"""`load_verdicts`: every confirmation request of a part of the history, those without an update too."""

from __future__ import annotations

from typing import Any, Final, Generic, NamedTuple, TypeVar

from ledgerframes.decoding.paged_histories import EVENT_HISTORY
from ledgerframes.loaders.declaring import Read, history_loader
from ledgerframes.results import html_frames

Frame = TypeVar("Frame")
_TABLES: Final = ("verdicts", "views", "app_activity")


class Verdicts(NamedTuple, Generic[Frame]):
    """The decisions of mediators in a part of the history.

    Attributes:
        verdicts: one row per confirmation request.
        views: one row per view of a request.
        app_activity: one row per app provider that a request gave activity to; empty on servers that send none.
    """

    verdicts: Frame
    views: Frame
    app_activity: Frame

    def _repr_html_(self) -> str:
        """The size of each table and its origin, for notebooks."""
        return html_frames("Verdicts", self._asdict())


@history_loader(EVENT_HISTORY, _TABLES)
def load_verdicts(read: Read) -> Verdicts[Any]:
    """Load what mediators decided in a part of the history, rejected and wholly private requests included.

    Endpoint: POST /v0/events. Reassignments have no verdict, so they have no row; their updates, like all others, are
    in `load_history`, with the same `update_id`.

    Args:
        net: the network; its scan is asked.

    Returns:
        Verdicts(verdicts, views, app_activity): one row per request, per view of a request, and per app provider that
        a request gave activity to, in the order of migration id, record time and the server. Times are UTC in
        microseconds, traffic is in bytes.

    Raises:
        InputError: an argument breaks a rule, the scan does not serve the route, or no part is named and the history
            is longer than that.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=100) as net:
        ...     verdicts, views, app_activity = lf.load_verdicts(net, limit=50)
        >>> sorted(verdicts.result.unique())
        ['VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED']
    """
    return Verdicts(**read())
