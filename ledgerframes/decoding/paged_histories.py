"""The two histories that scan returns in pages: their endpoints, their tables, and how their pages are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ledgerframes.decoding.events import decode_event_items, decode_events_page
from ledgerframes.decoding.history import HistoryBatch, decode_items, decode_page
from ledgerframes.decoding.page_index import ENDPOINT, EVENTS_ENDPOINT, peek, peek_events
from ledgerframes.decoding.splitting import place_of, place_of_event, raws_of
from ledgerframes.paging.cursor import Glimpse


@dataclass(frozen=True)
class PagedHistory:
    """One of the histories.

    Attributes:
        endpoint: method and path of its pages.
        tables: what its pages fill, in the order in which a store writes them: by the ids of the last one pages are
            compared, and its rows decide what readers see.
        member: the member of a page that holds the items.
        peek: reads the cursors of a page.
        place_of: an item with only the members that give its cursor.
        decode_page: makes columns of a page.
        decode_items: makes columns of single items.
    """

    endpoint: str
    tables: tuple[str, ...]
    member: str
    peek: Callable[[bytes], Glimpse]
    place_of: Callable[[bytes], bytes]
    decode_page: Callable[..., HistoryBatch]
    decode_items: Callable[..., HistoryBatch]

    @property
    def index(self) -> str:
        """The table with one row per item."""
        return self.tables[-1]

    def raws_of(self, body: bytes) -> list[bytes]:
        """The items of a page as they were sent.

        Raises:
            msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is not a page, or not a complete one.
        """
        return raws_of(body, self.member)


UPDATE_HISTORY: Final = PagedHistory(
    ENDPOINT, ("events", "reassignments", "updates"), "transactions", peek, place_of, decode_page, decode_items
)
EVENT_HISTORY: Final = PagedHistory(
    EVENTS_ENDPOINT, ("views", "app_activity", "verdicts"), "events", peek_events, place_of_event,
    decode_events_page, decode_event_items,
)  # fmt: skip
