"""`ObjectHistory`: pages from a scan's objects alone; loads and the workers of a cluster read it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import Final

from ledgerframes.interfaces.history_pages import UPDATES, Smaller
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage, PagedHistory
from ledgerframes.objects.names import complete_segments, consecutive, objects_of
from ledgerframes.objects.readers import AFTER_ALL, BEFORE_ALL, Readers, page_of_items
from ledgerframes.objects.sources import ELSEWHERE, ScanObjects, no_objects
from ledgerframes.paging.cursor import Window
from ledgerframes.paging.history import MAXIMUM, HistoryReader
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.timestamps import EARLIEST, LATEST, format_trimmed
from ledgerframes.transport import Answer, Request, Stop

_log = logging.getLogger("ledgerframes.objects")
#: Far more items than any page has.
_ANY_SIZE: Final = 2**31


@dataclass(frozen=True)
class ObjectHistory:
    """The history of a scan's objects alone, as a source of pages.

    Attributes:
        source: opens them.
        readers: of consecutive ones.
        whole: whether no item precedes their first one.
        reaches_end: whether they have everything up to the end of the window that they were listed for.
        cut: whether more objects are listed after a gap, before which they end.
    """

    source: ScanObjects
    readers: Readers
    whole: bool = False
    reaches_end: bool = False
    cut: bool = False
    history: PagedHistory = UPDATE_HISTORY

    @classmethod
    def of_window(cls, source: ScanObjects, window: Window) -> ObjectHistory:
        """List the objects that a window needs; what follows a missing one is left out.

        Raises:
            InputError: the source has no objects.
            RequestError: the source returned no list.
            PagingError: it repeats a page of the list.
        """
        after, up_to = _listed_times(window)
        stored = source.updates(after, up_to)
        if stored is None:
            raise no_objects(source.place, ELSEWHERE)
        chain = consecutive(complete_segments(stored))
        end = chain[-1].up_to if chain else after
        cut = bool(stored) and end < stored[-1].name.up_to
        if cut:
            _log.warning("%s lists none right after %s: later objects are not read", source.place, format_trimmed(end))
        # A list begins with the object that contains a time, so there is none before an object that begins later.
        whole = bool(chain) and (after <= EARLIEST or chain[0].after > after)
        # Segments follow record time: the listed ones are complete as far as the window needs.
        reaches_end = bool(chain) and end >= up_to
        return cls(source, Readers(source, objects_of(chain)), whole, reaches_end, cut)

    def reader(self, window: Window, *, limit: int | None = None, page_size: int = MAXIMUM) -> HistoryReader:
        """A reader of a window, for pages of any size, which never end inside a tie unless they are full."""
        largest = {self.source.place: _ANY_SIZE}
        return HistoryReader(window, limit, page_size, maximum=_ANY_SIZE, beyond=self.reaches_end, largest=largest)

    @property
    def servers(self) -> tuple[str, ...]:
        """Their origin."""
        return (self.source.place,)

    @property
    def largest_pages(self) -> dict[str, int]:
        """Nothing: pages may have any size."""
        return {}

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[HistoryPage]:
        """Read one page.

        Raises:
            RequestError: an object could not be fetched.
            DecodeError: an object is damaged, or an item has no place in the history.
        """
        del server, revise
        began, after = time.monotonic(), BEFORE_ALL if query.after is None else query.after
        items = self.readers.page(after, AFTER_ALL, query.page_size, allow_partial=True)
        return answer_of(page_of_items(items), self.source.place, began)

    def pause(self, seconds: float) -> None:
        """Objects never lag."""

    def stoppable(self, stop: Stop) -> ObjectHistory:
        """The same for one operation, whose downloads end once `stop` is set."""
        return replace(self, readers=replace(self.readers, source=self.source.stoppable(stop)))


def answer_of(page: HistoryPage, place: str, began: float) -> Answer[HistoryPage]:
    """A page from objects as if a server had sent it."""
    return Answer(page, 200, place, Request(UPDATES, UPDATES.path), len(page.raw), time.monotonic() - began, {})


def _listed_times(window: Window) -> tuple[int, int]:
    """The record times, (after, up_to], of the objects that a window needs.

    A list of objects knows no migrations. A window that begins or ends inside of one needs a day more, as record times
    of neighbouring migrations may overlap by that much.
    """
    start, end = window.start, window.end
    slack = 0 if start is not None and end is not None and start.migration_id == end.migration_id else OVERLAP
    after = EARLIEST if start is None else start.micros - 1 - slack
    after = max(after, EARLIEST if window.since is None else window.since - 1)
    up_to = LATEST if end is None else end.micros + slack
    up_to = min(up_to, LATEST if window.until is None else window.until)
    # A microsecond more than wanted: a segment may end there, and only the next one has an item that proves the end.
    up_to = min(up_to + 1, LATEST)
    after = min(max(after, EARLIEST), LATEST - 1)
    return after, max(up_to, after + 1)
