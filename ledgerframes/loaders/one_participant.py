"""Reads pages from one participant from beginning to end, for the loaders of a participant's history and contracts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from ledgerframes.arguments import names, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.errors import InputError, PagingError, RequestError, StatusError
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.ledger_pages import LEDGER_END, LedgerEnd
from ledgerframes.interfaces.rules import Text, each
from ledgerframes.loaders.contracts import party_list
from ledgerframes.loaders.table_loader import Origin, denies
from ledgerframes.paging.tokens import Token, follow_pages
from ledgerframes.transport import Answer

if TYPE_CHECKING:
    from ledgerframes.interfaces.ledger import Ledger
    from ledgerframes.network import Network
    from ledgerframes.transport.request import Endpoint

_log = logging.getLogger("ledgerframes.loaders")

#: The release whose published interface file has the routes; no document names the first one.
KNOWN: Final = "3.5.14"
LAST_OFFSET: Final = 2**63 - 1
#: The most pages to read when no argument bounds the read.
_FREE_PAGES: Final = 100

Page = TypeVar("Page", bound="LedgerPage")


@dataclass
class OneParticipant:
    """Carries out a read with one participant, whose offsets and page tokens mean nothing to the others.

    If that participant fails on the way, the read starts again with another one.

    Args:
        net: the network; its ledger interface is asked.
        origin: records which participant answered.
        endpoint: the route that is read.
        instead: the remedy if no participant serves the route, a sentence without its full stop.
    """

    net: Network
    origin: Origin
    endpoint: Endpoint
    instead: str
    _failed: set[str] = field(default_factory=set)

    def run(self, read: Callable[[Ledger, int], None], restart: Callable[[], None]) -> None:
        """Read with the first participant that returns everything.

        Args:
            read: reads with an interface that asks one participant only; its newest offset is the other argument.
            restart: forgets what was read so far.

        Raises:
            InputError: no participant serves the route.
            RequestError: no participant gave everything, or one refused the request.
            PagingError: the pages of a participant contradict each other.
        """
        while True:
            server = ""
            try:
                ledger, end, server = self._begin()
                read(ledger, end)
            except RequestError as error:
                others = self._others(server)
                if denies(error) or not others:
                    self._explain(error)
                    raise
                _log.warning("another participant is read from the beginning: %s", error)
                self.origin.servers.clear()
                restart()
            else:
                return

    def _begin(self) -> tuple[Ledger, int, str]:
        """The interface of the next participant, its newest offset and its address."""
        ledger = self.net.ledger
        if self._failed:
            ledger = ledger.on(next(server for server in ledger.servers if server not in self._failed))
        answer = ledger.raw.ledger_end()
        assert answer is not None
        with reading(LEDGER_END):
            end = reads(LedgerEnd)(answer.value).offset or 0
        self.origin.servers[source_of(answer.server)] = None
        return self.net.ledger.on(answer.server), end, answer.server

    def _others(self, server: str) -> list[str]:
        """The participants not yet tried; none where not even the first one could be chosen."""
        if not server and not self._failed:
            return []
        untried = [other for other in self.net.ledger.servers if other not in self._failed]
        # The participant that failed before it stated its newest offset is the first one not yet tried.
        self._failed.add(server or untried[0])
        return [other for other in untried if other not in self._failed]

    def _explain(self, error: RequestError) -> None:
        """Turn "unknown route" into an error with a remedy.

        Raises:
            InputError: the participant does not know the route.
        """
        if not isinstance(error, StatusError) or not error.unknown_route:
            return
        has = f"The interface of release {KNOWN} has it; whether older ones do is not documented"
        raise InputError(
            f"the participant at {error.server} does not serve {self.endpoint}. {self.endpoint.since or has}. What to"
            f" do: give ledger_url= of a newer one, or {self.instead}"
        ) from error


class LedgerPage(Protocol):
    """A page of a participant's answers."""

    @property
    def next_page_token(self) -> str | None:
        """The token of the page that follows; None after the last one."""


def ledger_pages(
    call: Callable[[str | None], Answer[bytes] | None],
    read: Callable[[bytes], Page],
    endpoint: str,
    *,
    items: Callable[[Page], int],
    too_long: str | None,
) -> Iterator[Page]:
    """Yield the pages of one read of one participant.

    Args:
        call: sends for the page of a token.
        read: makes a page of an answer's body.
        endpoint: for messages.
        items: the number of a page's items that count.
        too_long: the remedy for more than 100 pages; None if an argument bounds the read.

    Raises:
        PagingError: the participant refuses the token that it gave, repeats one, or shows only empty pages.
        DecodeError: an answer breaks the interface's rules.
        InputError: 100 pages were read, more follow, and no argument bounds the read.
    """
    pages = rows = 0

    def fetch(token: Token | None) -> Page:
        if too_long is not None and pages >= _FREE_PAGES:
            raise InputError(f"{endpoint}: there are more than {rows:,} rows, {_FREE_PAGES} pages: {too_long}")
        try:
            answer = call(None if token is None else str(token))
            assert answer is not None
            with reading(endpoint):
                return read(answer.value)
        except StatusError as error:
            if token is None or error.status != 400:
                raise
            raise PagingError(
                f"{endpoint}: the participant at {error.server} refuses the page token that came with its page"
                f" before: {error.detail}. Tokens belong to one participant: if several stand behind this address, give"
                " the address of one of them; otherwise load again"
            ) from error

    for page in follow_pages(fetch, lambda page: page.next_page_token, endpoint, new=lambda page: items(page) > 0):
        pages, rows = pages + 1, rows + items(page)
        yield page


def parties_and_views(parties: Iterable[str] | None, interfaces: Iterable[str]) -> tuple[Any, Any]:
    """Check the parties whose view is requested, and the interfaces whose views are.

    Raises:
        InputError: a party id or an interface is not valid, or the list of parties is empty.
    """
    named = None if parties is None else party_list(parties)
    return named, each(names(interfaces, "interfaces"), "interfaces", kind=Text)


def offset(net: Network, value: int | None, name: str, *, least: int) -> int | None:
    """Check an offset.

    Raises:
        InputError: it is not a whole number, or several participants are connected.
    """
    if value is None:
        return None
    number = whole_number(value, name, least=least, most=LAST_OFFSET)
    servers = net.ledger.servers
    if len(servers) > 1:
        raise InputError(
            f"{name}={number} is an offset, which counts the updates of one participant, and ledger_url= names"
            f" {len(servers)} of them: connect with the one that the offset comes from"
        )
    return number
