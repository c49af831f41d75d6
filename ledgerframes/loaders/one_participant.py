"""Reads pages from one participant, for the loaders of its history and contracts, and checks their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ledgerframes.arguments import names, whole_number
from ledgerframes.errors import InputError, PagingError, PartialResultError, StatusError
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.ledger_reads import LEDGER_END, LedgerContractsPage, LedgerEnd, LedgerUpdatesPage
from ledgerframes.interfaces.rules import PartyId, Text, distinct, each
from ledgerframes.loaders.table_loader import OneServer
from ledgerframes.paging.tokens import Token, follow_pages

if TYPE_CHECKING:
    from ledgerframes.interfaces.ledger import Ledger
    from ledgerframes.network import Network

LAST_OFFSET: Final = 2**63 - 1
#: The most pages to read when no argument bounds the read.
_FREE_PAGES: Final = 100
#: The code of a participant's error for what lies before the offset up to which it has pruned.
_PRUNED: Final = "PARTICIPANT_PRUNED_DATA_ACCESSED"

Page = TypeVar("Page", LedgerUpdatesPage, LedgerContractsPage)


def newest_offset(one: OneServer[Ledger]) -> int:
    """The offset of a participant's newest update; asks the one that the transport prefers, if none is chosen yet."""
    answer = one.raw("ledger_end")
    with reading(LEDGER_END):
        return reads(LedgerEnd)(answer.value).offset or 0


def ledger_pages(
    call: Callable[[str | None], Page],
    endpoint: str,
    *,
    items: Callable[[Page], int],
    too_long: str | None,
    pruned: Callable[[int | None], PartialResultError],
) -> Iterator[Page]:
    """Yield the pages of one read of one participant.

    Args:
        call: sends for the page of a token.
        endpoint: for messages.
        items: the number of a page's items that count.
        too_long: the remedy for more than 100 pages; None if an argument bounds the read.
        pruned: makes the error of a participant that has pruned up to an offset; None if it names none.

    Raises:
        PartialResultError: the participant has pruned a part of what is read.
        PagingError: the participant refuses the token that it gave, repeats one, or shows only empty pages.
        DecodeError: an answer breaks the interface's rules.
        InputError: 100 pages were read, more follow, and no argument bounds the read.
    """
    pages = rows = 0

    def fetch(token: Token | None) -> Page:
        if too_long is not None and pages >= _FREE_PAGES:
            raise InputError(f"{endpoint}: there are more than {rows:,} rows, {_FREE_PAGES} pages: {too_long}")
        try:
            return call(None if token is None else str(token))
        except StatusError as error:
            if error.code == _PRUNED:
                named = error.context.get("earliest_offset", "")
                raise pruned(int(named) if named.isdecimal() else None) from error
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


def pruned_up_to(endpoint: str, argument: str, asked: int | None, low: int | None) -> PartialResultError:
    """The error of a participant that has pruned its updates.

    Args:
        endpoint: for the message.
        argument: the caller's argument that names an offset: `start`, the first wanted one, or `at`, the last one.
        asked: its value.
        low: the offset up to which the participant has pruned, if it names it.
    """
    reach = "" if low is None else f" up to offset {low}"
    if asked is None:
        remedy = " while they were read: load again"
    else:
        later = "a later one" if low is None else f"{argument}={low + 1 if argument == 'start' else low} or a later one"
        remedy = f", and {argument}={asked} was asked for: give {later}, or leave it out for what there is"
    return PartialResultError(f"{endpoint}: the participant has pruned its updates{reach}{remedy}")


def parties_and_views(parties: Iterable[str] | None, interfaces: Iterable[str]) -> tuple[Any, Any]:
    """Check the parties whose view is requested, and the interfaces whose views are.

    Raises:
        InputError: a party id or an interface is not valid, or the list of parties is empty.
    """
    named = None if parties is None else distinct(parties, "parties", PartyId)
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
