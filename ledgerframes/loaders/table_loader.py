"""What the loaders of one table share: collecting raw items from pages, and shaping them as the caller asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, ParamSpec

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import flag, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, PagingError, RequestError
from ledgerframes.frames import As, Decimals, Lists, check_shape, described, shape
from ledgerframes.loaders.provenance import Provenance
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token, follow_tokens
from ledgerframes.tables.table import Table
from ledgerframes.transport import Answer

P = ParamSpec("P")
#: As many rows as Arrow counts; a higher limit is all of them, too.
_MOST: Final = 2**63 - 1

_log = logging.getLogger("ledgerframes.loaders")
_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
# Tokens are opaque: numbers in today's licenses, text elsewhere and in later releases.
_token = msgspec.json.Decoder(int | str | None)


@dataclass(frozen=True)
class Form:
    """The checked options of a loader: the form that the caller wants a table in."""

    table: Table
    names: tuple[str, ...]
    as_: As
    decimals: Decimals
    lists: Lists
    limit: int | None
    allow_partial: bool

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        columns: Iterable[str] | None = None,
        as_: As = "pandas",
        decimals: Decimals = "float",
        lists: Lists = "tuple",
        limit: int | None = None,
        allow_partial: bool = False,
    ) -> Form:
        """Check a loader's keywords before anything is sent.

        Raises:
            InputError: one of them breaks a rule.
        """
        check_shape(as_, decimals, lists)
        most = None if limit is None else min(whole_number(limit, "limit", least=1), _MOST)
        return cls(table, table.pick(columns), as_, decimals, lists, most, flag(allow_partial, "allow_partial"))

    def frame(
        self, batch: pa.RecordBatch | pa.Table, origin: Origin, *, cursor: Cursor | None = None, **said: Any
    ) -> Any:
        """Select the caller's columns and rows; `said` are further attributes beside the provenance."""
        attrs = said | Provenance(
            tuple(origin.servers), self.table.name, cursor, origin.complete, personal=origin.personal,
            left_out=origin.left_out, decimals=self.decimals,
        ).attrs()  # fmt: skip
        # Cut again here, because a page can hold more than the limit.
        whole = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        data = whole.slice(0, self.limit).select(list(self.names))
        return shape(
            described(data, attrs), self.table, as_=self.as_, decimals=self.decimals, lists=self.lists, attrs=attrs
        )


@dataclass
class Origin:
    """Which servers answered, whether the answers are complete, and what was done with personal data."""

    servers: dict[str, None] = field(default_factory=dict)
    complete: bool = True
    personal: bool = False
    left_out: tuple[str, ...] = ()

    def body(self, call: Callable[P, Answer[bytes] | None], *arguments: P.args, **options: P.kwargs) -> dict[str, Raw]:
        """Send a call and split its answer into members; empty where the call reads a 404 as "there is none".

        Raises:
            DecodeError: the answer is not a JSON object.
        """
        answer = call(*arguments, **options)
        if answer is None:
            return {}
        self.servers[source_of(answer.server)] = None
        try:
            return _members.decode(answer.value)
        except msgspec.DecodeError as error:
            endpoint = f"{answer.request.endpoint.method} {answer.request.endpoint.path}"
            raise DecodeError(f"{endpoint}: the answer is not a JSON object", endpoint=endpoint) from error

    @contextmanager
    def tolerating(self, *, allow_partial: bool) -> Iterator[None]:
        """Turn an error into an incomplete result where the caller allows it."""
        try:
            yield
        except (RequestError, PagingError, DecodeError) as error:
            if not allow_partial:
                raise
            self.complete = False
            _log.warning("the load ended early: %s", error)


def items_of(members: dict[str, Raw], name: str, endpoint: str) -> list[Raw]:
    """The list that a member of an answer holds.

    Raises:
        DecodeError: it is missing or not a list.
    """
    try:
        return _items.decode(members[name])
    except (KeyError, msgspec.DecodeError) as error:
        raise DecodeError(f"{endpoint}: {name!r} is missing or not a list", endpoint=endpoint, column=name) from error


def list_pages(
    origin: Origin,
    call: Callable[..., Answer[bytes] | None],
    *,
    items: str,
    following: str,
    argument: str,
    endpoint: str,
    form: Form,
    optional: bool = False,
) -> list[Raw]:
    """Collect the items of all pages, up to the caller's limit.

    Args:
        origin: records which servers answered.
        call: sends for one page, such as `net.scan.raw.validator_licenses`.
        items: the member with the page's items.
        following: the member with the next page's token.
        argument: the call's argument for the token.
        endpoint: for messages.
        form: the caller's limit, and whether an incomplete result is allowed.
        optional: the contract allows a page without items to omit the member.
    """

    def fetch(token: Token | None) -> dict[str, Raw]:
        return origin.body(call, **({} if token is None else {argument: token}))

    def split(page: dict[str, Raw]) -> tuple[list[Raw], Token | None]:
        try:
            token = _token.decode(page.get(following, b"null"))
        except msgspec.DecodeError as error:
            raise DecodeError(f"{endpoint}: {following!r} is not a page token: {error}", endpoint=endpoint) from error
        if optional and bytes(page.get(items, b"null")) == b"null":
            return [], token
        return items_of(page, items, endpoint), token

    collected: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        for item in follow_tokens(fetch, split, endpoint):
            collected.append(item)
            if form.limit is not None and len(collected) >= form.limit:
                break
    return collected
