"""`Gathering`: decodes fetched pages with a `PageDecoder`, several small ones of a shard together; fetchers call it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from ledgerframes.decoding.paged_histories import TOGETHER, UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import DecodeError, LedgerframesError
from ledgerframes.interfaces.history import PageRows
from ledgerframes.store.sync.rejects import RejectingDecoder
from ledgerframes.store.sync.shards import Fetched

# Bytes over all shards, so that hundreds of workers do not hold hundreds of megabytes.
_ALTOGETHER: Final = 16_000_000
# A slow server's pages are passed on after a second, so that waiting for more does no harm.
_SECONDS: Final = 1.0

#: Decodes pages: their rows that count, by table.
Decode = Callable[[Sequence[PageRows]], Mapping[str, pa.RecordBatch]]


@dataclass
class PageDecoder:
    """Decodes pages and measures the time it takes.

    Attributes:
        history: the history of the pages.
        rejecting: decodes bad pages item by item, if the sync continues without broken items.
        seconds: time spent decoding.
        cpu_seconds: processor time of decoding.
    """

    history: PagedHistory = UPDATE_HISTORY
    rejecting: RejectingDecoder | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __call__(self, pages: Sequence[PageRows]) -> Mapping[str, pa.RecordBatch]:
        """Decode the rows of pages that count, by table.

        Raises:
            DecodeError: a page breaks the contract.
        """
        began, cpu = time.perf_counter(), time.thread_time()
        if self.rejecting is not None:
            batches = self.rejecting.decode([(page.page, page.chosen) for page in pages])
        else:
            batches = self.history.decode_pages([(page.page.content, page.chosen) for page in pages]).batches
        self.seconds += time.perf_counter() - began
        self.cpu_seconds += time.thread_time() - cpu
        return batches


@dataclass
class _Waiting:
    """Consecutive pages of one shard that are not decoded yet."""

    since: float
    bytes: int = 0
    pages: list[tuple[Fetched, PageRows]] = field(default_factory=list)


@dataclass
class Gathering:
    """Pages between the workers and the commits; used by one thread.

    Attributes:
        decode: decodes pages.
        most: bytes of a shard's pages to decode together; 0 decodes each page by itself.
        clock: seconds.
    """

    decode: Decode
    most: int = TOGETHER
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[int, _Waiting] = field(default_factory=dict)  # by shard, the oldest first
    _bytes: int = 0

    def decoded(self, results: Iterable[tuple[Fetched, PageRows | None]]) -> Generator[Fetched]:
        """The fetched pages with their rows; those of one shard stay in order.

        Raises:
            DecodeError: a page breaks the contract; earlier ones have been returned.
            LedgerframesError: an error raised by `results`, after its earlier pages have been returned.
        """
        try:
            for fetched, page in results:
                yield from self._add(fetched, page)
            while self._waiting:
                yield from self._give_oldest()
        except GeneratorExit:
            raise
        except BaseException as error:
            # Pages before an error are complete and count; a broken page among them came first.
            broken = yield from self._whole()
            if broken is not None and isinstance(error, LedgerframesError) and not isinstance(error, DecodeError):
                raise broken from error
            raise

    def _add(self, fetched: Fetched, page: PageRows | None) -> Iterator[Fetched]:
        waiting = self._waiting.get(fetched.key)
        size = 0 if page is None else len(page.page.raw)
        if waiting is not None and (page is None or waiting.bytes + size > self.most or not _joins(waiting, fetched)):
            yield from self._give(fetched.key)
        if page is None:
            yield fetched
            return
        if fetched.key in self._waiting:
            waiting = self._waiting[fetched.key]
            waiting.pages.append((fetched, page))
        else:  # together with its page, as a signal may interrupt
            self._waiting[fetched.key] = waiting = _Waiting(self.clock(), pages=[(fetched, page)])
        waiting.bytes += size
        self._bytes += size
        if waiting.bytes >= self.most or _ends(fetched):
            yield from self._give(fetched.key)
        while self._waiting and (self._bytes > _ALTOGETHER or self._is_old()):
            yield from self._give_oldest()

    def _is_old(self) -> bool:
        return self.clock() - next(iter(self._waiting.values())).since >= _SECONDS

    def _give_oldest(self) -> Iterator[Fetched]:
        return self._give(next(iter(self._waiting)))

    def _whole(self) -> Generator[Fetched, None, DecodeError | None]:
        """All waiting pages, without those of a shard from a broken page on; returns the error of the first one."""
        broken = None
        while self._waiting:
            try:
                yield from self._give_oldest()
            except DecodeError as error:
                broken = broken or error
        return broken

    def _give(self, key: int) -> Iterator[Fetched]:
        """The waiting pages of a shard, as one."""
        waiting = self._waiting.pop(key)
        self._bytes -= waiting.bytes
        try:
            batches = self.decode([page for _, page in waiting.pages])
        except DecodeError:
            if len(waiting.pages) == 1:
                raise
        else:
            first, last = waiting.pages[0][0], waiting.pages[-1][0]
            openings = tuple(opening for fetched, _ in waiting.pages for opening in fetched.openings)
            yield replace(last, span=last.span._replace(lo=first.span.lo), batches=batches, openings=openings)
            return
        # One by one, so that the pages before the broken one count.
        for fetched, page in waiting.pages:
            yield replace(fetched, batches=self.decode([page]))


def _joins(waiting: _Waiting, fetched: Fetched) -> bool:
    """Whether a page continues the waiting ones without a gap, from the same server."""
    last = waiting.pages[-1][0]
    return (fetched.span.lo, fetched.server, fetched.breaks) == (last.span.hi, last.server, last.breaks)


def _ends(fetched: Fetched) -> bool:
    """Whether a page ends its shard or its migration."""
    return fetched.ended or fetched.exhausted or fetched.following is not None
