"""`FolderAnswers`: answers requests for pages of updates from objects, without sending any; `open_objects` makes it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from ledgerframes.objects.folder_history import FolderHistory
from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import parse_timestamp

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
