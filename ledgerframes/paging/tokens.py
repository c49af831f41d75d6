"""Following page tokens, which are opaque: the licenses', users' and instruments' way of paging."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ledgerframes.errors import PagingError

Page = TypeVar("Page")
Item = TypeVar("Item")
Token = int | str


def follow_tokens(
    fetch: Callable[[Token | None], Page],
    split: Callable[[Page], tuple[Sequence[Item], Token | None]],
    endpoint: str,
) -> Iterator[Item]:
    """Yield every item until a page has no token, or an empty one; the length of a page says nothing.

    Args:
        fetch: reads the page of a token; None is the first page.
        split: takes a page apart into items and next token.
        endpoint: for the message.

    Raises:
        PagingError: a token came before; following it would never end.
    """
    seen: set[Token] = set()
    token: Token | None = None
    while True:
        items, token = split(fetch(token))
        yield from items
        if token is None or token == "":
            return
        if token in seen:
            raise PagingError(f"{endpoint}: the server gave page token {token!r} again; its pages would never end")
        seen.add(token)
