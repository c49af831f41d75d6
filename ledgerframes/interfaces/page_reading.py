"""`HistoryPage`: a page of either history, read whole or without broken items; `ScanPages` fetches them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, Content, PagedHistory
from ledgerframes.decoding.splitting import UNREADABLE, NotWholeError, members_of, reason_of
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.answers import event_item, update_item
from ledgerframes.paging.cursor import Glimpse

#: Items without a cursor, and why.
Unplaced = tuple[tuple[bytes, DecodeError], ...]


@dataclass(frozen=True)
class HistoryPage:
    """One page of a history, in ascending order of migration id and record time.

    Attributes:
        raw: the page as sent.
        content: the page as parsed by the compiled decoder, or as sent.
        glimpse: cursor and id of every item, the last of which is where the next page begins.
        history: which history it belongs to.
        unplaced: items without a cursor, and why, if they were to be skipped.
    """

    raw: bytes = field(repr=False)
    content: Content = field(repr=False)
    glimpse: Glimpse = field(repr=False)
    history: PagedHistory = field(default=UPDATE_HISTORY, repr=False)
    unplaced: Unplaced = field(default=(), repr=False)

    @classmethod
    def read(cls, body: bytes, history: PagedHistory = UPDATE_HISTORY) -> HistoryPage:
        """Take the body of a page apart, and read its cursors.

        Raises:
            DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
        """
        try:
            content = history.parse(body)
            return cls(body, content, history.peek(content), history)
        except UNREADABLE:
            for position, raw in enumerate(history.raws_of(body)):
                if (reason := reason_of(raw)) is not None:
                    raise _unreadable(history, position, raw, reason) from reason
            raise

    @classmethod
    def read_leniently(cls, body: bytes, history: PagedHistory = UPDATE_HISTORY) -> HistoryPage:
        """Read a page, leaving out items that have no place in the history.

        An invalid item with a readable migration id and record time stays in the page; decoding it reports the fault.

        Raises:
            DecodeError: no item has a readable record time, or only those of one instant: the next page is unknown.
        """
        try:
            return cls.read(body, history)
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
            body = page_of(history, placed)
            return cls(body, body, glimpse, history, tuple(unplaced))

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The typed items: those of updates, or an `EventItem` each.

        Raises:
            DecodeError: one of them breaks the contract.
        """
        return tuple(self._typed(raw, row) for row, raw in enumerate(self.history.raws_of(self.raw)))

    def _typed(self, raw: bytes, row: int) -> Any:
        endpoint = self.history.endpoint
        try:
            return update_item(raw) if self.history is UPDATE_HISTORY else event_item(raw)
        except UNREADABLE as error:
            raise DecodeError(f"{endpoint}: item {row}: {error}", endpoint=endpoint, item=str(row)) from error

    def __repr__(self) -> str:
        cursors = self.glimpse.cursors
        span = f", {cursors[0]} to {cursors[-1]}" if cursors else ""
        return f"HistoryPage({len(cursors)} item{'' if len(cursors) == 1 else 's'}{span})"

    def __len__(self) -> int:
        return len(self.glimpse.cursors)


def page_of(history: PagedHistory, raws: Sequence[bytes | msgspec.Raw]) -> bytes:
    """The body of a page with these items."""
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
