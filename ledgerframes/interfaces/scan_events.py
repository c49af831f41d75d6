"""Scan's calls for the event history: updates with the mediators' verdicts, and verdicts without an update.

`Scan` inherits them; the shapes are those of scan's published interface file.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ledgerframes.decoding.paged_histories import EVENT_HISTORY
from ledgerframes.interfaces.answers import EventItem, event_item, reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.history_pages import EVENTS, HistoryPage, ScanPages, ValueEncoding, cursor_of
from ledgerframes.interfaces.history_pages import value_encoding as encoding_of
from ledgerframes.interfaces.rules import Positive32, Text, fits
from ledgerframes.paging.cursor import Bound
from ledgerframes.transport.request import Endpoint

LATEST_RECORD_TIME: Final = Endpoint("scan", "GET", "/v0/events/latest-record-time")
EVENT_BY_ID: Final = Endpoint("scan", "GET", "/v0/events/{update_id}")


class LatestRecordTime(Struct, frozen=True):
    """The answer of `latest_event_record_time`: the end of the event history on this scan."""

    record_time: str


class EventCalls(Calls):
    """The calls of the event history."""

    @sends(EVENTS, neighbour=True)
    def events(
        self, *, after: Bound | None = None, page_size: int = 1000, value_encoding: ValueEncoding | None = None
    ) -> Call[HistoryPage]:
        """Read one page of the event history, ascending (POST /v0/events).

        Use `load_verdicts` for more than a page: items that share a record time can be cut apart by a page's end, and
        "after" then skips the rest of them.

        Args:
            after: `(migration id, time)`; items strictly after it are returned. None is ledger begin.
            page_size: the most items to return, 1 to 1000; an operator may allow fewer.
            value_encoding: see `update_by_id`.
        """
        size, encoding = fits(page_size, Positive32, "page_size"), encoding_of(value_encoding)
        request = ScanPages(EVENT_HISTORY, self._sender).page_request(cursor_of(after), size, **encoding)
        return Call(request, lambda body: HistoryPage.read(body, EVENT_HISTORY))

    @sends(LATEST_RECORD_TIME, neighbour=True)
    def latest_event_record_time(self) -> Call[LatestRecordTime]:
        """Read up to which record time the scan's event history reaches (GET /v0/events/latest-record-time).

        Raises:
            NotFoundError: the scan has no events yet, or is older than release 0.9. Both answer alike, since older ones
                take the last step of the path for an update's id.
        """
        return Call(LATEST_RECORD_TIME.request(), reads(LatestRecordTime))

    @sends(EVENT_BY_ID, neighbour=True)
    def event_by_id(self, update_id: str, *, value_encoding: ValueEncoding | None = None) -> Call[EventItem]:
        """Read one item of the event history by the id of its request (GET /v0/events/{update_id}).

        Args:
            update_id: the id of the update or of the rejected request.
            value_encoding: see `update_by_id`.

        Raises:
            NotFoundError: the scan does not know the id.
        """
        path = {"update_id": fits(update_id, Text, "update_id")}
        return Call(EVENT_BY_ID.request(path=path, query=encoding_of(value_encoding)), event_item)
