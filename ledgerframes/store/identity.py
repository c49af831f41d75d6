"""Whether a server belongs to the network a store was filled from, and whether it has anything new; `sync` asks first.

A network is told by its first update: the smallest id among the updates of the first instant.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import Final

from ledgerframes.decoding.peek import Cursor, Glimpse
from ledgerframes.errors import RequestError, StoreError
from ledgerframes.interfaces.history import PageSource
from ledgerframes.paging.window import before

_log = logging.getLogger("ledgerframes.store")
_FIRST: Final = 50


class News(Enum):
    """What a look at the end of what is stored showed."""

    NOTHING = "the servers have nothing beyond"
    MORE = "there is more, or it cannot be told by a look"
    BEHIND = "the server does not have what is stored: it lags"


def first_update(source: PageSource, *, server: str | None = None) -> tuple[Cursor, str] | None:
    """The first place of the history and the name of the network, or None while the ledger is empty."""
    glimpse = _ask(source, None, _FIRST, server)
    if not glimpse.cursors:
        return None
    first = glimpse.cursors[0]
    group = [one for place, one in zip(glimpse.cursors, glimpse.update_ids, strict=True) if place == first]
    return first, min(group)


def check_network(source: PageSource, expected: str, *, server: str | None = None) -> None:
    """Refuse a server of another network.

    Raises:
        StoreError: its first update is another one.
    """
    found = first_update(source, server=server)
    if found is not None and found[1] != expected:
        raise StoreError(
            f"{server or source.servers[0]}: this is not the network that the store was filled from: its history begins"
            f" with update {found[1]}, the store's with {expected}. Open another store for it"
        )


def check_every_server(source: PageSource, expected: str) -> None:
    """Refuse a list of servers of which one belongs to another network; one that is down now is left out.

    Raises:
        StoreError: a server's first update is another one.
    """
    for server in source.servers:
        try:
            check_network(source, expected, server=server)
        except RequestError as error:
            _log.warning("%s could not be asked which network it belongs to: %s", server, error)


def look(source: PageSource, place: Cursor, known: frozenset[str], page_size: int) -> tuple[News, bool]:
    """Look at the last stored instant again, and beyond it.

    Args:
        source: the servers.
        place: the last stored instant.
        known: the updates stored for it.
        page_size: items a request asks for.

    Returns:
        What there is, and whether the server has shown an update that the store knows: then it is the same network.
    """
    here = _ask(source, before(place), page_size, None)
    same = not known.isdisjoint(here.update_ids)
    if not known.issuperset(here.update_ids):
        return News.MORE, same
    if not same:
        return News.BEHIND, False
    later = any(_ask(source, place, page_size, server).cursors for server in _each(source))
    return (News.MORE if later else News.NOTHING), True


def _each(source: PageSource) -> tuple[str | None, ...]:
    """Every server, if there are several: one that lags must not hide what another has."""
    return source.servers if len(source.servers) > 1 else (None,)


def _ask(source: PageSource, after: Cursor | None, page_size: int, server: str | None) -> Glimpse:
    return source.send_page(source.page_request(after, page_size), server=server, revise=None).value.glimpse
