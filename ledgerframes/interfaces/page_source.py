"""`ScanPages`: one of scan's histories as a source of pages, and the requests for them; `Scan` makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import msgspec

from ledgerframes.decoding.paged_histories import EVENT_HISTORY, PagedHistory
from ledgerframes.errors import DecodeError, InputError, RequestError, StatusError
from ledgerframes.interfaces.answers import reads
from ledgerframes.interfaces.history import too_much
from ledgerframes.interfaces.page_reading import HistoryPage
from ledgerframes.interfaces.rules import Positive32, fits
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.timestamps import format_timestamp
from ledgerframes.transport import Answer, Sender, Stop
from ledgerframes.transport.request import Endpoint, Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.server_memory import PageSizes

ValueEncoding = Literal["compact_json", "protobuf_json"]

UPDATES: Final = Endpoint("scan", "POST", "/v2/updates")
EVENTS: Final = Endpoint("scan", "POST", "/v0/events")


@dataclass(frozen=True)
class ScanPages:
    """The pages of one of scan's histories.

    Attributes:
        history: the history.
        sender: sends the requests.
        lenient: whether pages are to be read without broken items.
        among: the servers to ask; all of the interface if it is empty.
    """

    history: PagedHistory
    sender: Sender
    lenient: bool = False
    among: tuple[str, ...] = ()

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""
        servers = self.sender.servers("scan")
        return tuple(server for server in servers if server in self.among) or servers

    def page_request(self, after: Cursor | None, page_size: int) -> Request:
        """The request for one page."""
        return page_request(EVENTS if self.history is EVENT_HISTORY else UPDATES, after, page_size, None)

    def send_page(
        self, request: Request, *, server: str | tuple[str, ...] | None, revise: Revise | None
    ) -> Answer[HistoryPage]:
        """Fetch one page: from a named server once, from some servers only, or from the preferred one."""
        # A caller that names one server chooses the next one itself, from what it knows of their lag.
        attempts = 1 if isinstance(server, str) else None
        server = server or self.among or None
        read: Callable[[bytes], HistoryPage] = partial(HistoryPage.read, history=self.history)
        if self.lenient and isinstance(server, str):
            read = partial(HistoryPage.read_leniently, history=self.history)
        elif self.lenient:
            read = _Lenient(self.history, several=len(server or self.servers) > 1)

        def revised(asked: Request, error: RequestError) -> Request | None:
            if too_much(error) and (failed := self._failed(error, server)) is not None:
                self.sender.transport.page_sizes.note(failed, _page_size(asked.content or b""), came=False)
            return None if revise is None else revise(asked, error)

        answer = self.sender.send(request, read=read, server=server, revise=revised, attempts=attempts)
        self.sender.transport.page_sizes.note(answer.server, _page_size(answer.request.content or b""), came=True)
        return answer

    def _failed(self, error: RequestError, server: str | tuple[str, ...] | None) -> str | None:
        """The server that an error comes from; None if unknown."""
        if isinstance(error, StatusError):
            return error.server
        asked = (server,) if isinstance(server, str) else server or self.servers
        return asked[0] if len(asked) == 1 else None

    @property
    def page_sizes(self) -> PageSizes:
        """The maximum number of items per request, by scan."""
        return self.sender.transport.page_sizes

    def pause(self, seconds: float) -> None:
        """Wait, by the transport's clock."""
        self.sender.pause(seconds)

    def stoppable(self, stop: Stop) -> ScanPages:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, sender=self.sender.stoppable(stop))

    def leniently(self) -> ScanPages:
        """The same, its pages read without the items that have no cursor."""
        return replace(self, lenient=True)


#: The number of items that a request for a page asks for, by its body.
_page_size: Final = reads(int, "page_size")


@dataclass
class _Lenient:
    """Reads a page without its broken items, but only once another attempt, or another scan, did not have it whole.

    A valid JSON item that breaks the contract is the same each time; only another scan may have it right.
    """

    history: PagedHistory
    several: bool
    again: bool = False

    def __call__(self, body: bytes) -> HistoryPage:
        if not self.again:
            try:
                return HistoryPage.read(body, self.history)
            except DecodeError as error:
                self.again = True
                readable = error.__cause__ is None or isinstance(error.__cause__, msgspec.ValidationError)
                if self.several or not readable:
                    raise
        return HistoryPage.read_leniently(body, self.history)


def page_request(endpoint: Endpoint, after: Cursor | None, page_size: int, encoding: ValueEncoding | None) -> Request:
    """The request for one page of a history.

    Raises:
        InputError: the page size or the encoding is not valid.
    """
    body: dict[str, Any] = {"page_size": fits(page_size, Positive32, "page_size"), **value_encoding(encoding)}
    if after is not None:
        body["after"] = {
            "after_migration_id": after.migration_id,
            "after_record_time": format_timestamp(after.micros),
        }
    return endpoint.request(json=body)


def cursor_of(after: Bound | None) -> Cursor | None:
    """A caller's `after`.

    Raises:
        InputError: it is not a pair of migration id and time.
    """
    cursor = None if after is None else bound(after, "after")
    if isinstance(cursor, int):
        raise InputError(f"after={after!r} is not valid: give a pair (migration id, time)")
    return cursor


def value_encoding(encoding: ValueEncoding | None) -> dict[str, str]:
    """The encoding under the contract's neutral name and the one that servers know; nothing for the default."""
    if encoding not in {None, "compact_json", "protobuf_json"}:
        raise InputError(f"value_encoding={encoding!r} is neither 'compact_json' nor 'protobuf_json'")
    if encoding != "protobuf_json":
        return {}
    # Servers ignore a name that they do not know and then silently answer compact_json, so both are sent.
    return {"contract_value_encoding": encoding, "daml_value_encoding": encoding}
