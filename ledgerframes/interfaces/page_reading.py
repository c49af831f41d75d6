"""Reads the body of a page of either history, whole or without broken items; `UpdatesPage` and `EventsPage` call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ledgerframes.decoding.paged_histories import Content, PagedHistory
from ledgerframes.decoding.splitting import UNREADABLE, NotWholeError, members_of, reason_of
from ledgerframes.errors import DecodeError
from ledgerframes.paging.cursor import Glimpse

#: Items without a place, and why.
Unplaced = tuple[tuple[bytes, DecodeError], ...]


class HistoryPage(Protocol):
    """A page of either history."""

    @property
    def raw(self) -> bytes:
        """The JSON of the page."""

    @property
    def content(self) -> Content:
        """The page as its history decodes it."""

    @property
    def glimpse(self) -> Glimpse:
        """Cursor and id of every item."""

    @property
    def unplaced(self) -> Unplaced:
        """Items without a place, and why, where they were to be left out."""

    def __len__(self) -> int: ...


def read_page(history: PagedHistory, body: bytes) -> tuple[Content, Glimpse]:
    """Take a page apart, and read its cursors.

    Raises:
        DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
    """
    try:
        content = history.parse(body)
        return content, history.peek(content)
    except UNREADABLE:
        for position, raw in enumerate(history.raws_of(body)):
            if (reason := reason_of(raw)) is not None:
                raise _unreadable(history, position, raw, reason) from reason
        raise


def read_leniently(history: PagedHistory, body: bytes) -> tuple[Content, Glimpse, Unplaced]:
    """Read a page, leaving out items that have no place in the history.

    An invalid item with a readable migration id and record time stays in the page; decoding it reports the fault.

    Raises:
        DecodeError: no item has a readable record time, or only those of one instant: the next page is unknown.
    """
    try:
        return *read_page(history, body), ()
    except DecodeError:
        placed, places, unplaced = [], [], []
        for position, raw in enumerate(history.raws_of(body)):
            reason = reason_of(raw)
            try:
                place = raw if reason is None else history.place_of(raw)
                history.peek(page_of(history, [place]))
            except DecodeError as error:
                unplaced.append((raw, error))
            except (NotWholeError, *UNREADABLE):
                unplaced.append((raw, _unreadable(history, position, raw, reason)))
            else:
                placed.append(raw)
                places.append(place)
        glimpse = history.peek(page_of(history, places))
        # With fewer than two cursors left, paging could not tell whether the page ends inside a tie.
        if unplaced and len(set(glimpse.cursors)) < 2:
            raise
        return page_of(history, placed), glimpse, tuple(unplaced)


def page_of(history: PagedHistory, raws: Sequence[bytes | msgspec.Raw]) -> bytes:
    """The body of a page that holds these items."""
    return b'{"%b":[%b]}' % (history.member.encode(), b",".join(map(bytes, raws)))


def _unreadable(history: PagedHistory, position: int, raw: bytes, reason: Exception | None) -> DecodeError:
    try:
        place = history.peek(page_of(history, [history.place_of(raw)]))
        named = place.update_ids[0]
    except (NotWholeError, DecodeError, *UNREADABLE):
        named = _named(raw) or f"at position {position}"
    return DecodeError(
        f"{history.endpoint}: item {position} (update {named}) cannot be read as JSON: {reason}. What to do: ask"
        ' another server; in a lake, on_error="reject" puts it aside and continues',
        endpoint=history.endpoint, table=history.index, item=named,
    )  # fmt: skip


def _named(raw: bytes) -> str:
    try:
        return str(msgspec.json.decode(members_of(raw)[b'"update_id"'], type=str))
    except (NotWholeError, KeyError, *UNREADABLE):
        return ""
