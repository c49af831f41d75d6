"""Reads the pages of a history request into Arrow tables, then into the caller's form; the history loaders call it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, PagingError, PartialResultError, RequestError
from ledgerframes.frames import provenance, shape
from ledgerframes.interfaces.history import PageRows, read_pages
from ledgerframes.interfaces.history_pages import EVENTS, PageSource
from ledgerframes.interfaces.paged_histories import TOGETHER, UPDATE_HISTORY, HistoryPage, known_by
from ledgerframes.loaders.declaring import HistoryRequest
from ledgerframes.loaders.event_choice import NAMED
from ledgerframes.loaders.extent import (
    WHOLE,
    Beginning,
    beginning_of,
    extent_of,
    having,
    newest_time,
    nothing_shown,
    proven_by,
    warn_of,
)
from ledgerframes.loaders.planning import Plan, plan_windows
from ledgerframes.loaders.progress import progress_of
from ledgerframes.loaders.table_loader import needing
from ledgerframes.objects.history import ObjectHistory
from ledgerframes.objects.sources import scan_objects
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.history import HistoryReader, at_two_places
from ledgerframes.paging.modes import PageQuery
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.timestamps import format_timestamp
from ledgerframes.transport import Answer

_log = logging.getLogger("ledgerframes.loaders")


@dataclass(frozen=True)
class Most:
    """The limits of a load that names no part of the history.

    Attributes:
        updates: the most updates.
        bytes: the most bytes of answers, uncompressed.
    """

    updates: int
    bytes: int


_INSTEAD: Final = "read the updates without their verdicts by lf.load_history"
#: Room for the whole history of a small ledger; seconds to minutes of a large one, in memory that any notebook has.
UNBOUNDED: Final = Most(updates=100_000, bytes=1_000_000_000)


def read_history(request: HistoryRequest, *, unbounded: Most = UNBOUNDED) -> dict[str, Any]:
    """Load the requested tables in the caller's form, by name.

    Args:
        request: the part of the history, and the form.
        unbounded: where to stop if the request names no part of the history.

    Raises:
        InputError: the request names no part, and the history is longer than `unbounded`.
        RequestError: the servers gave no answer; DecodeError and PagingError: answers that cannot be used.
    """
    if request.last is not None:
        request = replace(request, counted_from=newest_time(request.net.scan))
    whole = request.limit is None and request.window.whole
    load = _Load(request, unbounded if whole else None)
    # Every scan serves the history of updates, which the contract has.
    served = nullcontext() if request.history is UPDATE_HISTORY else needing(EVENTS, instead=_INSTEAD)
    with progress_of("history", shown=request.progress, total=request.limit) as progress:
        try:
            with served, load.pages() as pages:
                for page in pages:
                    load.add(page)
                    last = page.page.page_index.cursors[page.rows[-1]]
                    share = request.window.share_before(last, now=load.began)
                    progress.advance(len(page.rows), format_timestamp(last.micros)[:19], share)
                load.decode()
                load.find_beginning()
                if load.first_page is None:
                    load.check_reach()
                elif load.reader.lost_overlap and load.objects is None:  # pages that overlap belong to one history
                    load.check_network(load.first_page)
        except (RequestError, DecodeError, PagingError, PartialResultError) as error:
            first: Exception = error
            try:
                load.decode()  # pages that wait came before the one that this error is about
            except DecodeError as earlier:
                first = earlier
            if not request.allow_partial:
                raise first from first.__cause__
            load.complete = False
            _log.warning("the load ended early: %s", first)
    if load.beginning is not None and load.beginning.late is not None:
        warn_of(load.beginning, load.place)
    if request.only is not None:
        request.only.warn(load.seen)
    attrs = load.attrs() | ({} if request.only is None else request.only.attrs)
    form = partial(shape, as_=request.as_, decimals=request.decimals, lists=request.lists)
    tables = {}
    for name, columns in request.columns_of.items():
        declared = CATALOGUE[name].schema
        schema = pa.schema([declared.field(column) for column in columns], declared.metadata)
        rows = pa.Table.from_batches(load.batches.pop(name), schema)  # released as they are joined
        tables[name] = form(rows, CATALOGUE[name], attrs=attrs | {"table": name, "rows": len(rows)})
    return tables


#: A server may cap its pages, so that none is full: after this many, the total is estimated, too.
_SHORT_PAGES: Final = 5
#: The maximum number of first updates that are requested again: late ones may have come before them.
_REPEATED: Final = 50


class _Load:
    """The state of one load: the record batches so far, and the data to check them against."""

    def __init__(self, request: HistoryRequest, most: Most | None) -> None:
        endpoint = request.history.endpoint
        pages = request.net.scan.pages(request.history)
        self.source: PageSource = having(pages, request.window) if request.source == "pages" else pages
        self.reader = HistoryReader(request.window, request.limit, request.page_size, endpoint=endpoint)
        self.objects: ObjectHistory | None = None  # what is read in place of the scan's pages
        self.complete = True
        self.began = time.time_ns() // 1000
        self._net = request.net
        self._request = request
        self._most = most
        self.batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in request.columns_of}
        self.seen: dict[str, set[str]] = {key: set() for key in NAMED}  # names of all events, where some are chosen
        self._servers: dict[str, None] = {}
        self._places: dict[int, int] = {}  # hashes of ids and of their cursors, which take little of a row's memory
        self.first_page: PageRows | None = None
        self.beginning: Beginning | None = None  # of the available history, if the load reaches back to it
        self._begin_known = False
        self._updates = self._bytes = self._pages = 0
        self._estimate: Plan | None = None
        self._waiting: list[PageRows] = []  # pages that are not decoded yet
        self._last: Cursor | None = None  # of the kept rows
        self._newest: Cursor | None = None  # of the whole history, if the range is empty
        self._shown: Cursor | None = None  # the newest update when the size was estimated

    @contextmanager
    def pages(self) -> Iterator[Iterator[PageRows]]:
        """The pages to read: those of the server, or lines of its objects."""
        net, request = self._net, self._request
        if request.source == "pages" or not net.is_remote:  # pages of an opened folder come from objects already
            yield read_pages(self.source, self.reader)
            return
        with scan_objects(net.scan) as listed:
            self.source = self.objects = objects = ObjectHistory.of_window(listed, request.window)
            self.reader = objects.reader(request.window, limit=request.limit, page_size=request.page_size)
            with closing(objects.readers):
                yield read_pages(objects, self.reader)

    def add(self, page: PageRows) -> None:
        """Take a page; small ones are decoded several at once.

        Raises:
            InputError: the history is longer than a load accepts without a range.
            DecodeError: an item breaks the contract; the pages before it are kept.
            PagingError: an update was received before at another place.
        """
        if self._most is not None:
            self._check_size(page, self._most)
        self._servers[source_of(page.server)] = None
        if self.first_page is None:
            self.first_page = page
            self.find_beginning()
        index = page.page.page_index
        # Before decoding: an id at another cursor means that the pages do not belong to one history.
        for row in page.rows:
            place = hash(index.cursors[row])
            if self._places.setdefault(hash(index.update_ids[row]), place) != place:
                raise at_two_places(self.reader.endpoint, index.update_ids[row], index.cursors[row])
        if sum(len(waiting.page.raw) for waiting in self._waiting) + len(page.page.raw) > TOGETHER:
            self.decode()
        self._waiting.append(page)

    def decode(self) -> None:
        """Decode the pages taken, and keep the requested columns.

        Raises:
            DecodeError: an item breaks the contract; the pages before it are kept.
        """
        pages, self._waiting = self._waiting, []
        if not pages:
            return
        columns_of = self._request.columns_of
        chosen = [(page.page, page.rows) for page in pages]
        try:
            batches = self._request.history.decode_pages(chosen, tables=columns_of.keys())
        except DecodeError:
            if len(pages) == 1:
                raise
            for page in pages:
                self._waiting = [page]
                self.decode()
            return
        for name, batch in batches.items():
            only = self._request.only if name == "events" else None
            for key, column in NAMED.items() if only else ():
                self.seen[key].update(filter(None, batch[column].unique().to_pylist()))
            self.batches[name].append((batch if only is None else only.selected(batch)).select(list(columns_of[name])))
        self._last = pages[-1].page.page_index.cursors[pages[-1].rows[-1]]

    def _check_size(self, page: PageRows, most: Most) -> None:
        """Refuse a load that names no part of the history once it is too long."""
        self._updates += len(page.rows)
        self._bytes += len(page.page.raw)
        self._pages += 1
        # A page that is not full may be the whole history, so that a small one is loaded without an estimate.
        full = len(page.page) >= page.query.page_size or self._pages == _SHORT_PAGES
        if full and self._estimate is None:
            # Without an estimate the running counts below are the bound.
            with suppress(RequestError, DecodeError):
                self._estimate, self._shown = plan_windows(self._net, [self._request.window])
        estimate = self._estimate
        too_many = estimate is not None and (estimate.rows > most.updates or estimate.megabytes * 1e6 > most.bytes)
        if too_many or self._updates > most.updates or self._bytes > most.bytes:
            size = [f"{self._updates:,} updates so far"] if estimate is None else [text for _, text in estimate.lines()]
            raise InputError(
                f"this would load the whole history ({'; '.join(size)}), more than {most.updates:,} updates or"
                f' {most.bytes / 1e6:,.0f} MB; choose a part, for example last="1h", start="2026-01-30" or'
                ' limit=10_000, or start="begin" for all of it'
            )

    def find_beginning(self) -> None:
        """Find out whether the load reaches back before the available history.

        Raises:
            PartialResultError: it was to begin before, and that is not allowed.
        """
        if self._begin_known:
            return
        request, window = self._request, self._request.window
        first, page = self.reader.first, self.first_page
        # Items shown first before the first page came may have been pruned before that.
        if page is None or page.query.after is not None:
            if page is not None and page.page.page_index.cursors[0] == window.start:
                return
            if self.objects is not None and not self.objects.whole:
                return
            # A window that begins at a cursor is read from there on, and does not show earlier items.
            earliest = PageQuery(None, 1)
            answer = self.source.send_page(earliest) if page is None else self._as_of(page, earliest)
            first = next(iter(answer.value.page_index.cursors), None)
        if first is None:
            return  # there is nothing, or not yet
        self._begin_known = True
        # Objects contain everything from the time in their names.
        begins_after = self._net.begins_after
        reach = first if begins_after is None else Cursor(first.migration_id, begins_after + 1)
        if not window.wants_before(reach):
            return
        if page is not None and page.page.page_index.cursors[0] == first:
            self.beginning = Beginning(first, proven_by(page.page, self.source.history))
        else:
            known = beginning_of(self.source)
            self.beginning = Beginning(first, None if known is None else known.proven)
        if self.beginning.late is None or not (window.names_start or window.ends_before(reach)):
            return
        self.complete = False
        if not request.allow_partial:
            elsewhere = ' or source="objects"' if self.objects is None and self._net.is_remote else ""
            raise PartialResultError(
                f"{self.place} begins at {reach}, after ledger begin, but {window} was requested: older updates were"
                f" pruned, or never stored there. Give start=({reach.migration_id},"
                f" '{format_timestamp(reach.micros)}') or later, leave start= out to load from there, read another scan"
                f"{elsewhere}, or pass allow_partial=True to get what there is"
            )

    def check_reach(self) -> None:
        """Refuse a range that begins after the available history.

        Raises:
            PartialResultError: it does, or nothing is there.
        """
        window, objects = self._request.window, self.objects
        if objects is not None and not objects.readers.objects and window.wants_before(WHOLE):
            self.complete = False
            raise PartialResultError(
                f"{self.place} lists no objects of its history yet: it writes one after a segment, such as a day, has"
                " passed. Give source='pages', or pass allow_partial=True to get no rows"
            )
        if self.reader.beyond or not window.names_start:
            return
        if objects is None:
            scan = self._net.scan
            extent = extent_of(scan, having(scan.pages(self._request.history), window))
            self._newest = None if extent is None else extent.newest
        else:
            self._newest = objects.readers.newest
        advice = "Give an earlier start= or leave it out"
        if self._newest is None and objects is None:
            reason, advice = nothing_shown(self._net.scan), "Leave start= out"
        elif self._newest is None:
            reason = f"{self.place}: its objects hold nothing so late"
        else:
            if not window.begins_after(self._newest):
                return
            reason = f"{self.place} ends at {self._newest}, {self._last_there}"
        self.complete = False
        raise PartialResultError(
            f"{reason}, and {window} is asked for. {advice}, or pass allow_partial=True to get no rows"
        )

    @property
    def _last_there(self) -> str:
        if self.objects is None:
            history = self._request.history
            return (
                "the newest update there" if history is UPDATE_HISTORY else f"the newest that {history.endpoint} shows"
            )
        return "the last update before a gap in its objects" if self.objects.cut else "the last update in its objects"

    @property
    def place(self) -> str:
        """The origin of the data."""
        return next(iter(self._servers), source_of(self.source.servers[0]))

    def check_network(self, first: PageRows) -> None:
        """Ask for the first page again: behind one URL another network may answer from some request on.

        Raises:
            PagingError: the server returns no update of the first page.
        """
        again = PageQuery(first.query.after, min(first.query.page_size, _REPEATED))
        answer = self._as_of(first, again)
        page, shown = answer.value, first.page.page_index
        if {*page.page_index.update_ids} & {*shown.update_ids}:
            return
        begin = beginning_of(self.source, answer.server)
        pruned = begin is not None and begin.first > shown.cursors[:_REPEATED][-1]
        if pruned and known_by(self.source.history, page) & known_by(self.source.history, first.page):
            return
        raise PagingError(
            f"{self.source.history.endpoint}: {answer.server} shows nothing any more of what {first.server} showed when"
            " the load began: another network answers there, or the server was restored, or pruned everything. Nothing"
            " of this load can be trusted; load again"
        )

    def _as_of(self, sent: PageRows, query: PageQuery) -> Answer[HistoryPage]:
        """A page of the server that sent another one, as others may lag or have pruned; of any if it has gone away."""
        try:
            return self.source.send_page(query, server=sent.server)
        except (RequestError, DecodeError):
            return self.source.send_page(query)

    def attrs(self) -> dict[str, Any]:
        """The origin of the data."""
        window, reader, beginning = self._request.window, self.reader, self.beginning
        at_limit = reader.limit is not None and reader.taken >= reader.limit
        # Without an update at or after the end, nothing proves that the range is complete.
        early = self.complete and not (at_limit or reader.beyond) and (window.has_end or self._behind)
        begun = False if self._begin_known or window.names_start else None
        begun = begun if beginning is None else beginning.proven
        last = self._last or self._newest
        why = "where limit= ends it" if at_limit else "the last one read" if self._short else self._last_there
        end = "" if last is None else f"{format_timestamp(last.micros)} ({why})"
        if at_limit:  # what was asked for beyond is not there
            window = replace(window, end=None, until=None)
        words = window.in_words("" if beginning is None else str(beginning), end)
        bounds = window.bounds() | ({"limit": reader.limit} if at_limit else {})
        return provenance(
            sources=tuple(self._servers) or (self.place,), range=words, cursor=self._last,
            complete=self.complete and not early, from_beginning=begun,
            begins_late=None if beginning is None else beginning.late, personal=self._net.settings.personal,
            ends_early=early, bounds=bounds, decimals=self._request.decimals or "float",
            counted_from=self._request.counted_from,
        )  # fmt: skip

    @property
    def _behind(self) -> bool:
        """Whether objects end at a gap, or rows before the newest update, from which `last` counts back."""
        newest, last = self._request.counted_from, self._last
        behind = newest is not None and (last is None or last.micros < newest)
        return behind or self._short or (self.objects is not None and self.objects.cut)

    @property
    def _short(self) -> bool:
        """Whether rows of pages end before an update that a server has shown to this load."""
        if self.objects is not None or self._request.history is not UPDATE_HISTORY:
            return self.reader.withdrawn
        passed = self._shown is not None and (self._last is None or self._last < self._shown)
        return passed or self.reader.withdrawn
