"""`FolderHistory` answers requests for pages of the update history by the objects of a folder.

The assumptions about a server hold for a folder (see `paging.proofs`): it has everything up to its newest item minus
`settle`. So nothing proves the end of its last segment, and nothing beyond its newest item.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import pairwise
from typing import Final

import httpx
import msgspec

from ledgerframes.errors import DecodeError
from ledgerframes.objects.folder import FolderObjects
from ledgerframes.objects.lines import object_lines
from ledgerframes.objects.names import COMPACT, StoredObject
from ledgerframes.objects.readers import AFTER_ALL, BEFORE_ALL, Readers, body_of, item_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import parse_timestamp

_ROUTE: Final = ("POST", "/v2/updates")
_JSON: Final = {"content-type": "application/json"}


class FolderHistory(httpx.BaseTransport):
    """A folder of objects in place of a scan; thread-safe.

    Args:
        source: opens the objects.
        objects: in order, without a gap.
    """

    def __init__(self, source: FolderObjects, objects: Sequence[StoredObject]) -> None:
        self._source = source
        self._objects = objects
        self._readers = Readers(source, objects)
        self._firsts: dict[int, Cursor | None] = {}
        self._end: Cursor | None = None  # nothing follows it
        self._change = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return a page of updates; refuse everything else, since objects do not contain it.

        Raises:
            DecodeError: an object is damaged or gone, or items are not in order.
        """
        method, path = _ROUTE
        if request.method != method or not request.url.path.endswith(path):
            return _refusal(501, "objects hold the history of updates and nothing else; connect to a scan for this")
        body = msgspec.json.decode(request.content)
        encoding = body.get("daml_value_encoding", COMPACT)
        if encoding != COMPACT:
            return _refusal(400, f"objects are {COMPACT}, not {encoding}")
        after = BEFORE_ALL
        if (place := body.get("after")) is not None:
            after = Cursor(place["after_migration_id"], parse_timestamp(place["after_record_time"])[0])
        return httpx.Response(200, headers=_JSON, content=self._page(after, body["page_size"]))

    def close(self) -> None:
        """Close every object."""
        self._readers.close()

    def _page(self, after: Cursor, size: int) -> bytes:
        """The body of the page with the items after a cursor."""
        if self._end is not None and after >= self._end:
            return body_of([])
        # The last object that begins at or before the cursor; the first one if none does.
        begun = bisect_right(range(len(self._objects)), after, key=lambda place: self._first(place) or AFTER_ALL)
        self._own_first(max(begun - 2, 0))  # which the one that is read has to follow
        items = self._readers.page(after, AFTER_ALL, size, first=max(begun - 1, 0), allow_partial=True)
        if not items:
            with self._change:
                self._end = after if self._end is None else min(after, self._end)
        return body_of(items)

    def _first(self, position: int) -> Cursor | None:
        """The cursor of the first item in an object or after it; None if there is none.

        An object that cannot be read is passed over: whoever reads up to it meets the fault.

        Raises:
            DecodeError: objects are not in order.
        """
        firsts = map(self._own_first, range(position, len(self._objects)))
        return next((cursor for cursor in firsts if cursor is not None), None)

    def _own_first(self, place: int) -> Cursor | None:
        """The cursor of the first item of an object; None if it is empty or cannot be read."""
        with self._change:
            if place in self._firsts:
                return self._firsts[place]
        cursor = None
        with suppress(DecodeError), closing(object_lines(self._source, self._objects[place : place + 1])) as lines:
            cursor = next((item_of(line).cursor for line in lines), None)
        with self._change:
            known = [one for _, one in sorted((self._firsts | {place: cursor}).items()) if one is not None]
            if any(later <= earlier for earlier, later in pairwise(known)):
                raise DecodeError(
                    f"{self._source.place}: {self._objects[place].name} begins at {cursor}, which is not in order with"
                    " other objects; they belong to different histories, or were renamed"
                )
            self._firsts[place] = cursor
        return cursor


def _refusal(status: int, why: str) -> httpx.Response:
    return httpx.Response(status, headers=_JSON, content=msgspec.json.encode({"error": why}))
