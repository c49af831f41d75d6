"""`FolderHistory`: pages of the update history from the objects of a folder; `FolderAnswers` answers requests by them.

The assumptions about a server hold for a folder (see `paging.proofs`): it has everything up to its newest item minus
`settle`. So nothing proves the end of its last segment, and nothing beyond its newest item.
"""

from __future__ import annotations

import shutil
import threading
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from ledgerframes.errors import DecodeError, InputError
from ledgerframes.objects.folder import FolderObjects
from ledgerframes.objects.lines import page_of_lines
from ledgerframes.objects.segments import AFTER_ALL, BEFORE_ALL, Readers, Segment
from ledgerframes.objects.sources import StoredObject
from ledgerframes.paging.cursor import Cursor, Window
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.timestamps import EARLIEST, format_timestamp, format_trimmed, parse_timestamp

#: The number of places that are read at once, such as the shards of a sync.
_READERS: Final = 16
_BEGINNINGS: Final = 4
_NOTHING: Final = b'{"transactions":[]}'


@dataclass
class FolderHistory:
    """The history of contiguous objects; thread-safe.

    Attributes:
        source: opens objects.
        objects: in order, without a gap.
    """

    source: FolderObjects
    objects: tuple[StoredObject, ...]
    _firsts: dict[int, Cursor | None] = field(default_factory=dict)
    _end: Cursor | None = None
    _beginnings: dict[int, bytes] = field(default_factory=dict)  # first pages, by their size
    _change: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._whole = Segment(self.begin, self.objects[-1].name.up_to, self.objects)
        self._readers = Readers(self.source, most=_READERS)

    @property
    def begin(self) -> int:
        """The record time after which the objects have updates."""
        return self.objects[0].name.after

    @property
    def is_whole(self) -> bool:
        """Whether it begins at ledger begin: the first segment of a network begins in the year 1."""
        return self.begin <= EARLIEST

    def check(self, window: Window) -> None:
        """Refuse a window that begins before the objects.

        Raises:
            InputError: it does.
        """
        if self.is_whole:
            return
        first = self._first(0)
        migration_id = 0 if first is None else first.migration_id
        start = window.start
        inside = start is not None and (start.migration_id > migration_id or start == (migration_id, start.micros))
        since = window.since if start is None else start.micros if inside else None
        if since is not None and (since > self.begin or (start is not None and start.migration_id > migration_id)):
            return
        wanted = window if window.names_start else window.in_words("ledger begin")
        raise InputError(
            f"{self.source.place} has the updates recorded after {format_trimmed(self.begin)}, but {wanted} was"
            f" requested; give start={format_timestamp(self.begin + 1)!r} or later, or add the objects before"
        )

    def page(self, after: Cursor | None, size: int) -> bytes:
        """Return the body of a page: the items after a cursor.

        Raises:
            DecodeError: an object is damaged or gone, or items are not in order.
        """
        after = BEFORE_ALL if after is None else after
        first = self._first(0)
        if first is None or (self._end is not None and after >= self._end):
            return _NOTHING
        # Syncs ask for the first items before every commit.
        at_beginning = after < first
        if at_beginning and size in self._beginnings:
            return self._beginnings[size]
        page = self._read(after, size)
        if at_beginning and len(self._beginnings) < _BEGINNINGS:
            self._beginnings[size] = page
        return page

    def close(self) -> None:
        """Close every open object."""
        self._readers.close()

    def _read(self, after: Cursor, size: int) -> bytes:
        # The last object that begins at or before the cursor; the first one if none does.
        begun = bisect_right(range(len(self.objects)), after, key=lambda place: self._first(place) or AFTER_ALL)
        page = self._readers.read(self._whole, after, AFTER_ALL, size, first=max(begun - 1, 0))
        if page is not None:
            return page.raw
        with self._change:
            self._end = after if self._end is None else min(after, self._end)
        return _NOTHING

    def _first(self, position: int) -> Cursor | None:
        """The cursor of the first item in an object or after it; None if there is none.

        An object that cannot be read is passed over: whoever reads up to it meets the fault.

        Raises:
            DecodeError: the item's time contradicts the object's name, objects are not in order, or none can be read.
        """
        with self._change:
            if position in self._firsts:
                return self._firsts[position]
        cursor = fault = None
        for place in range(position, len(self.objects)):
            try:
                line = self.source.first_line(self.objects[place])
                page = None if line is None else page_of_lines([line], str(self.objects[place].name))
            except DecodeError as error:
                fault = error
                continue
            if page is not None:
                cursor = self._placed(page.page_index.cursors[0], place)
                break
        if cursor is None and fault is not None and position == 0:
            raise fault
        with self._change:
            self._firsts[position] = cursor
            known = [one for _, one in sorted(self._firsts.items()) if one is not None]
        if known != sorted(known):
            raise DecodeError(
                f"{self.source.place}: {self.objects[position].name} begins at {cursor}, which is not in order with"
                " other objects; they belong to different histories, or were renamed"
            )
        return cursor

    def _placed(self, cursor: Cursor, position: int) -> Cursor:
        # Updates of a migration may be later than a segment's end if the next migration has begun.
        name = self.objects[position].name
        if cursor.micros > name.up_to + OVERLAP:
            raise DecodeError(
                f"{self.source.place}: {name} begins at {cursor}, after the end in its name; was it renamed?",
                item=str(name),
            )
        return cursor


_ROUTE: Final = ("POST", "/v2/updates")
_JSON: Final = {"content-type": "application/json"}


class _After(Struct):
    after_migration_id: int
    after_record_time: str

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.after_migration_id, parse_timestamp(self.after_record_time)[0])


class _Body(Struct):
    """The body of a request that this package has made."""

    page_size: int
    after: _After | None = None
    daml_value_encoding: str = "compact_json"


class FolderAnswers(httpx.BaseTransport):
    """A folder of objects in place of a scan; thread-safe.

    Args:
        history: the history in the folder.
        temporary: a folder to remove at the end.
    """

    def __init__(self, history: FolderHistory, temporary: Path | None = None) -> None:
        self._history = history
        self._temporary = temporary

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return a page of updates; refuse everything else, since objects do not contain it."""
        method, path = _ROUTE
        if request.method != method or not request.url.path.endswith(path):
            return _refusal(501, "objects hold the history of updates and nothing else; connect to a scan for this")
        body = msgspec.json.decode(request.content, type=_Body)
        if body.daml_value_encoding != "compact_json":
            return _refusal(400, f"objects are compact_json, not {body.daml_value_encoding}")
        after = None if body.after is None else body.after.cursor
        return httpx.Response(200, headers=_JSON, content=self._history.page(after, body.page_size))

    def close(self) -> None:
        """Close every object, and remove copies."""
        self._history.source.stop.set()  # interrupts a copy in progress
        self._history.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


def _refusal(status: int, why: str) -> httpx.Response:
    return httpx.Response(status, headers=_JSON, content=msgspec.json.encode({"error": why}))
