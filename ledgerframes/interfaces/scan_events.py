"""Scan's calls for the event history: updates with the mediators' verdicts, and verdicts without an update.

`Scan` inherits them; the shapes are those of scan's published interface file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import msgspec
from msgspec import Raw, Struct

from ledgerframes.decoding.page_index import EVENTS_ENDPOINT
from ledgerframes.decoding.paged_histories import EVENT_HISTORY, body_of
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.answers import UpdateItem, reads, update_item
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.page_reading import Unplaced, read_leniently, read_page
from ledgerframes.interfaces.page_source import ValueEncoding, cursor_of, page_request
from ledgerframes.interfaces.page_source import value_encoding as encoding_of
from ledgerframes.interfaces.rules import Text, fits
from ledgerframes.paging.cursor import Glimpse
from ledgerframes.paging.window import Bound
from ledgerframes.transport.request import Endpoint

EVENTS: Final = Endpoint(interface="scan", method="POST", path="/v0/events")
LATEST_RECORD_TIME: Final = Endpoint(interface="scan", method="GET", path="/v0/events/latest-record-time")
EVENT_BY_ID: Final = Endpoint(interface="scan", method="GET", path="/v0/events/{update_id}")


class LatestRecordTime(Struct, frozen=True):
    """The answer of `latest_event_record_time`: up to where the event history reaches on this scan."""

    record_time: str


class Quorum(Struct, frozen=True):
    """Parties of which at least `threshold` have to confirm a view."""

    parties: list[str]
    threshold: int


class TransactionView(Struct, frozen=True):
    """A part of a confirmation request, with those who see and confirm it; `view_hash` is empty in older data."""

    view_id: int
    informees: list[str]
    confirming_parties: list[Quorum]
    sub_views: list[int]
    view_hash: str = ""


class TransactionViews(Struct, frozen=True):
    """The views of a confirmation request, and the ids of those that lie in no other one."""

    views: list[TransactionView]
    root_views: list[int]


class Verdict(Struct, frozen=True):
    """What mediators decided on a confirmation request.

    Attributes:
        domain_id: the synchronizer.
        finalization_time: when they had decided, by this scan's own mediator.
        verdict_result: VERDICT_RESULT_ACCEPTED, _REJECTED or _UNSPECIFIED.
    """

    update_id: str
    migration_id: int
    domain_id: str
    record_time: str
    finalization_time: str
    submitting_parties: list[str]
    submitting_participant_uid: str
    verdict_result: str
    mediator_group: int
    transaction_views: TransactionViews


class EnvelopeTraffic(Struct, frozen=True):
    """Traffic of one envelope in bytes, and the views that it holds."""

    traffic_cost: int
    view_ids: list[int]


class TrafficSummary(Struct, frozen=True):
    """Traffic of a confirmation request in bytes, paid by the participant that submitted it."""

    total_traffic_cost: int
    envelope_traffic_summaries: list[EnvelopeTraffic]


class AppActivity(Struct, frozen=True):
    """Activity of one app provider, in bytes of traffic."""

    party: str
    weight: int


class AppActivities(Struct, frozen=True):
    """The activity of a confirmation request, by app provider, and the round that it counts for."""

    round_number: int
    records: list[AppActivity]


class _EventParts(Struct):
    update: Raw = Raw(b"null")
    verdict: Verdict | None = None
    traffic_summary: TrafficSummary | None = None
    app_activity_records: AppActivities | None = None


_parts: Final = reads(_EventParts)


@dataclass(frozen=True)
class EventItem:
    """One item of the event history: an update, a verdict, or both; a reassignment has no verdict.

    Attributes:
        update: None where the request was rejected or is wholly private.
        verdict: None for a reassignment.
        traffic_summary: on servers that send it.
        app_activity_records: likewise.
    """

    update: UpdateItem | None
    verdict: Verdict | None
    traffic_summary: TrafficSummary | None
    app_activity_records: AppActivities | None

    @classmethod
    def read(cls, raw: bytes) -> EventItem:
        """Read one item.

        Raises:
            msgspec.DecodeError: it is not as the interface file says.
        """
        parts = _parts(raw)
        update = None if bytes(parts.update) == b"null" else update_item(parts.update)
        return cls(update, parts.verdict, parts.traffic_summary, parts.app_activity_records)


@dataclass(frozen=True)
class EventsPage:
    """One page of the event history, in ascending order of migration id and record time.

    Attributes:
        raw: the JSON of the page.
        glimpse: cursor and id of every item, the last of which is where the next page begins.
        unplaced: items without a place, and why, where they were to be left out.
    """

    raw: bytes = field(repr=False)
    glimpse: Glimpse = field(repr=False)
    unplaced: Unplaced = field(default=(), repr=False)

    @classmethod
    def read(cls, body: bytes) -> EventsPage:
        """Read the body of POST /v0/events.

        Raises:
            DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
        """
        return cls(body, read_page(EVENT_HISTORY, body)[1])

    @classmethod
    def read_leniently(cls, body: bytes) -> EventsPage:
        """Read the body of POST /v0/events, leaving out items that have no place in the history.

        Raises:
            DecodeError: no item has a readable record time, or only those of one instant: the next page is unknown.
        """
        content, glimpse, unplaced = read_leniently(EVENT_HISTORY, body)
        return cls(body_of(content), glimpse, unplaced)

    @property
    def content(self) -> bytes:
        """The page as sent."""
        return self.raw

    @cached_property
    def items(self) -> tuple[EventItem, ...]:
        """The typed items.

        Raises:
            DecodeError: one of them is not as the interface file says.
        """
        return tuple(self._typed(raw, row) for row, raw in enumerate(EVENT_HISTORY.raws_of(self.raw)))

    def _typed(self, raw: bytes, row: int) -> EventItem:
        try:
            return EventItem.read(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DecodeError(
                f"{EVENTS_ENDPOINT}: item {row}: {error}", endpoint=EVENTS_ENDPOINT, item=str(row)
            ) from error

    def __len__(self) -> int:
        return len(self.glimpse.cursors)


class EventCalls(Calls):
    """The calls of the event history."""

    @sends
    def events(
        self, *, after: Bound | None = None, page_size: int = 1000, value_encoding: ValueEncoding | None = None
    ) -> Call[EventsPage]:
        """Read one page of the event history, ascending (POST /v0/events).

        Use `load_verdicts` for more than a page: items that share a record time can be cut apart by a page's end, and
        "after" then skips the rest of them.

        Args:
            after: `(migration id, time)`; items strictly after it are returned. None is ledger begin.
            page_size: the most items to return, 1 to 1000; an operator may allow fewer.
            value_encoding: see `update_by_id`.
        """
        return Call(page_request(EVENTS, cursor_of(after), page_size, value_encoding), EventsPage.read)

    @sends
    def latest_event_record_time(self) -> Call[LatestRecordTime]:
        """Read up to which record time the scan's event history reaches (GET /v0/events/latest-record-time).

        Raises:
            NotFoundError: the scan has no events yet, or is older than release 0.9. Both answer alike, since older ones
                take the last step of the path for an update's id.
        """
        return Call(LATEST_RECORD_TIME.request(), reads(LatestRecordTime))

    @sends
    def event_by_id(self, update_id: str, *, value_encoding: ValueEncoding | None = None) -> Call[EventItem]:
        """Read one item of the event history by the id of its request (GET /v0/events/{update_id}).

        Args:
            update_id: the id of the update or of the rejected request.
            value_encoding: see `update_by_id`.

        Raises:
            NotFoundError: the scan does not know the id.
        """
        path = {"update_id": fits(update_id, Text, "update_id")}
        return Call(EVENT_BY_ID.request(path=path, query=encoding_of(value_encoding)), EventItem.read)
