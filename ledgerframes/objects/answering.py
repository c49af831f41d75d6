"""`FolderWay`: answers requests for pages of updates from objects instead of sending them; `open_objects` makes it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from ledgerframes.objects.asked_page import AskedPage
from ledgerframes.objects.folder_history import FolderHistory
from ledgerframes.transport.outcome import Broken, Credential, Received, Sink
from ledgerframes.transport.request import Prepared
from ledgerframes.transport.stopping import Stop

_ROUTE: Final = ("POST", "/v2/updates")
_JSON: Final = {"content-type": "application/json"}


@dataclass(frozen=True)
class FolderWay:
    """The way to a folder of objects; any number of threads may share one.

    Attributes:
        history: what the folder holds.
        temporary: a folder to remove in the end.
    """

    history: FolderHistory
    temporary: Path | None = None

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """A page of updates; everything else is refused, since objects do not hold it."""
        del credential, seconds, sink
        method, path = _ROUTE
        if prepared.method != method or not urlsplit(prepared.url).path.endswith(path):
            return _refusal(501, "objects hold the history of updates and nothing else; connect to a scan for this")
        stop.check()
        asked = AskedPage.read(prepared.body)
        if asked.encoding != "compact_json":
            return _refusal(400, f"objects are compact_json, not {asked.encoding}")
        return Received(200, _JSON, self.history.page(asked.after, asked.size))

    def close(self) -> None:
        """Close every object, and remove what was copied."""
        self.history.source.stop.set()  # an object may be being copied
        self.history.close()
        if self.temporary is not None:
            shutil.rmtree(self.temporary, ignore_errors=True)


def _refusal(status: int, why: str) -> Received:
    return Received(status, _JSON, msgspec.json.encode({"error": why}))
