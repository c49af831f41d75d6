"""`follow_tokens`: paging by opaque tokens; the loaders of licenses, users and instruments use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from ledgerframes.errors import PagingError

Page = TypeVar("Page")
Item = TypeVar("Item")
Token = int | str

#: This many empty pages in a row may still lead to one with items.
_EMPTY: Final = 1_000


def follow_tokens(
    fetch: Callable[[Token | None], Page],
    split: Callable[[Page], tuple[Sequence[Item], Token | None]],
    endpoint: str,
) -> Iterator[Item]:
    """Yield every item until a page has no token or an empty one; the length of a page proves nothing.

    Args:
        fetch: reads the page of a token; None is the first page.
        split: takes a page apart into items and next token.
        endpoint: for the message.

    Raises:
        PagingError: a token repeats, or only empty pages come; following them would never end.
    """
    seen: set[Token] = set()
    token: Token | None = None
    empty = 0
    while True:
        items, token = split(fetch(token))
        yield from items
        empty = 0 if items else empty + 1
        if empty > _EMPTY:
            raise PagingError(f"{endpoint}: the server gave {empty} empty pages in a row, each with another token")
        # Scan leaves the last token out or sends null, the ledger sends an empty text.
        if token is None or token == "":
            return
        # Some registries ignore the page token and send their first page again.
        if token in seen:
            raise PagingError(f"{endpoint}: the server gave page token {token!r} again; its pages would never end")
        seen.add(token)
