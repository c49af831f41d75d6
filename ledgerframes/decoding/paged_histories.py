"""The two histories that scan returns in pages: their endpoints, their tables, and the functions that read pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from ledgerframes.decoding.events import ALL as ALL_OF_EVENTS
from ledgerframes.decoding.events import decode_event_items, decode_events_page
from ledgerframes.decoding.history import HistoryBatch, decode_items
from ledgerframes.decoding.page_index import ENDPOINT, EVENTS_ENDPOINT, peek_events
from ledgerframes.decoding.pages import ParsedPage, decode_pages, joined, page_index_of, parse_page
from ledgerframes.decoding.splitting import place_of, place_of_event, raws_of
from ledgerframes.paging.cursor import PageIndex

#: Maximum bytes of small pages that are decoded together.
# A page of 50 items has 245 kB; alone, half of the decoding time goes into 48 columns, however few rows they have.
TOGETHER: Final = 2_000_000
#: A page as sent, or as parsed by the compiled decoder.
Content = bytes | ParsedPage


@dataclass(frozen=True)
class PagedHistory:
    """One of the histories.

    Attributes:
        endpoint: method and path of its pages.
        tables: the tables that its pages fill, in the order in which a store writes them: pages are compared by the ids
            of the last one, whose rows decide what readers see.
        member: the member of a page that contains the items.
        parse: parses a page once for `peek` and `decode_pages`.
        peek: reads the cursors of a page, parsed or not.
        place_of: reduces an item to the members that form its cursor.
        decode_pages: converts pages, parsed or not, to one set of columns, each with the positions of the items to
            decode.
        decode_items: converts single items to columns.
    """

    endpoint: str
    tables: tuple[str, ...]
    member: str
    parse: Callable[[bytes], Content]
    peek: Callable[..., PageIndex]
    place_of: Callable[[bytes], bytes]
    decode_pages: Callable[..., HistoryBatch]
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


def _decode_events_pages(
    pages: Sequence[tuple[bytes, Sequence[int] | None]], *, tables: Collection[str] = ALL_OF_EVENTS
) -> HistoryBatch:
    return joined([decode_events_page(body, tables=tables, rows=rows) for body, rows in pages])


UPDATE_HISTORY: Final = PagedHistory(
    ENDPOINT, ("events", "reassignments", "updates"), "transactions", parse_page, page_index_of, place_of,
    decode_pages, decode_items,
)  # fmt: skip
EVENT_HISTORY: Final = PagedHistory(
    EVENTS_ENDPOINT, ("views", "app_activity", "verdicts"), "events", bytes, peek_events, place_of_event,
    _decode_events_pages, decode_event_items,
)  # fmt: skip
