"""Paging by opaque tokens: `follow_tokens` lists every item, `TokenChecks` refuses pages that would never end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from ledgerframes.errors import PagingError

Page = TypeVar("Page")
Item = TypeVar("Item")
Token = int | str

#: The number of consecutive pages that may show nothing new before one that does.
_IDLE: Final = 80


class TokenChecks:
    """The rule for pages linked by tokens: no token repeats, and pages keep showing something new.

    Args:
        endpoint: for messages.
        token: of the first page of the read; None for the first page of all.
    """

    def __init__(self, endpoint: str, token: Token | None = None) -> None:
        self._endpoint = endpoint
        self._seen = {token}
        self._idle = 0

    def follow(self, token: Token | None, *, new: bool) -> None:
        """Take the token that came with a page.

        Args:
            token: of the next page; None after the last one.
            new: whether the page has an item that no earlier page had.

        Raises:
            PagingError: the token repeats, or too many pages in a row show nothing new; they would never end.
        """
        if token is None:
            return
        # Some registries ignore the page token and send their first page again.
        if token in self._seen:
            raise PagingError(
                f"{self._endpoint}: the server sent a page token again; pages of a server that repeats a page token"
                " never end. Ask another server, or this one's operator"
            )
        self._seen.add(token)
        self._idle = 0 if new else self._idle + 1
        if self._idle > _IDLE:
            raise PagingError(
                f"{self._endpoint}: {self._idle} pages in a row show nothing new, each with another page token; they"
                " would never end. Ask another server, or this one's operator"
            )


def follow_tokens(
    fetch: Callable[[Token | None], Page],
    split: Callable[[Page], tuple[Sequence[Item], Token | None]],
    endpoint: str,
) -> Iterator[Item]:
    """Yield every item until a page has no token or an empty one; the length of a page proves nothing.

    An item equal in every byte to one of an earlier page is yielded once.

    Args:
        fetch: fetches the page of a token; None is the first page.
        split: splits a page into items and next token.
        endpoint: for the message.

    Raises:
        PagingError: a token repeats, or pages no longer show anything new; following them would never end.
    """
    seen: set[int] = set()
    known = 0
    pages = follow_pages(
        lambda token: split(fetch(token)), lambda page: page[1], endpoint, new=lambda _: len(seen) > known
    )
    for items, _ in pages:
        known = len(seen)
        for item in items:
            digest = hash(msgspec.json.encode(item))
            if digest not in seen:
                seen.add(digest)
                yield item


def follow_pages(
    fetch: Callable[[Token | None], Page],
    following: Callable[[Page], Token | None],
    endpoint: str,
    *,
    new: Callable[[Page], bool],
) -> Iterator[Page]:
    """Yield every page until one has no token or an empty one.

    Args:
        fetch: fetches the page of a token; None is the first page.
        following: returns the token of the next page.
        endpoint: for the message.
        new: whether a page showed something that no earlier page had; called once the caller has taken it.

    Raises:
        PagingError: a token repeats, or pages no longer show anything new; following them would never end.
    """
    checks = TokenChecks(endpoint)
    token: Token | None = None
    while True:
        page = fetch(token)
        yield page
        token = following(page)
        # Scan leaves the last token out or sends null, the ledger sends an empty text.
        if token is None or token == "":
            return
        checks.follow(token, new=new(page))
