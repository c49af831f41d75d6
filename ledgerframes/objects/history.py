"""`ObjectHistory`: pages from a scan's objects alone; loads and the workers of a cluster read it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import InputError
from ledgerframes.interfaces.history_pages import HistoryPage, Smaller, page_of
from ledgerframes.objects.page_source import answer_of, past_a_tie
from ledgerframes.objects.segments import (
    AFTER_ALL,
    BEFORE_ALL,
    Readers,
    Segment,
    complete_segments,
    consecutive,
    joined,
)
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.paging.cursor import Window
from ledgerframes.paging.history import MAXIMUM, HistoryReader
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.timestamps import EARLIEST, LATEST, format_trimmed
from ledgerframes.transport import Answer, Stop

_log = logging.getLogger("ledgerframes.objects")
#: Far more items than any page has.
_ANY_SIZE: Final = 2**31


@dataclass(frozen=True)
class ObjectHistory:
    """The history of a scan's objects alone, as a source of pages.

    Attributes:
        place: their origin, without anything secret.
        objects: the objects as one segment; None if there are none.
        readers: those that wait in the middle of it.
        whole: whether no item precedes its first one.
        reaches_end: whether it has everything up to the end of the window that it was listed for.
        cut: whether more objects are listed after a gap, before which it ends.
    """

    place: str
    objects: Segment | None
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
        place = source.place
        if stored is None:
            raise InputError(
                f"source='objects': {place} has no objects; give source='pages', or scan_url= of a scan that has some"
            )
        segments = complete_segments(stored)
        objects = joined(consecutive(segments)) if segments else None
        end = after if objects is None else objects.up_to
        cut = bool(stored) and end < stored[-1].name.up_to
        if cut:
            _log.warning("%s lists none right after %s: later objects are not read", place, format_trimmed(end))
        # A list begins with the object that contains a time, so there is none before an object that begins later.
        whole = objects is not None and (after <= EARLIEST or objects.after > after)
        # Segments follow record time: the listed ones are complete as far as the window needs.
        reaches_end = objects is not None and objects.up_to >= up_to
        return cls(place, objects, Readers(source), whole, reaches_end, cut)

    def reader(self, window: Window, *, limit: int | None = None, page_size: int = MAXIMUM) -> HistoryReader:
        """A reader of a window, for pages of any size, which never end inside a tie."""
        largest = {self.place: _ANY_SIZE}
        return HistoryReader(window, limit, page_size, maximum=_ANY_SIZE, beyond=self.reaches_end, largest=largest)

    @property
    def servers(self) -> tuple[str, ...]:
        """Their origin."""
        return (self.place,)

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
        began, page = time.monotonic(), None
        if self.objects is not None:
            after = BEFORE_ALL if query.after is None else query.after
            page = past_a_tie(partial(self.readers.read, self.objects), after, AFTER_ALL, query.page_size)
        return answer_of(page or HistoryPage.read(page_of(UPDATE_HISTORY, [])), self.place, began)

    def pause(self, seconds: float) -> None:
        """Objects never lag."""

    def stoppable(self, stop: Stop) -> ObjectHistory:
        """The same for one operation, whose downloads end once `stop` is set."""
        return replace(self, readers=replace(self.readers, source=self.readers.source.stoppable(stop)))


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
