"""What the loaders of one table share: collecting raw items over pages, and giving them the caller's form."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import flag, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, PagingError, RequestError
from ledgerframes.frames import As, Decimals, check_shape, described, shape
from ledgerframes.interfaces.calls import Calls
from ledgerframes.loaders.provenance import Provenance
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token, follow_tokens
from ledgerframes.tables.table import Table

_log = logging.getLogger("ledgerframes.loaders")
_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_token = msgspec.json.Decoder(int | str | None)


class FormOptions(TypedDict, total=False):
    """The keywords that every loader of a table takes, for their overloads; a test holds both together."""

    columns: Iterable[str] | None
    decimals: Decimals
    limit: int | None
    allow_partial: bool


@dataclass(frozen=True)
class Form:
    """Checked options: how the caller wants one table."""

    table: Table
    names: tuple[str, ...]
    as_: As
    decimals: Decimals
    limit: int | None
    allow_partial: bool

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        columns: Iterable[str] | None = None,
        as_: As = "pandas",
        decimals: Decimals = "object",
        limit: int | None = None,
        allow_partial: bool = False,
    ) -> Form:
        """Check a loader's keywords before anything is sent.

        Raises:
            InputError: one of them breaks a rule.
        """
        check_shape(as_, decimals)
        most = None if limit is None else whole_number(limit, "limit", least=1)
        return cls(table, table.pick(columns), as_, decimals, most, flag(allow_partial, "allow_partial"))

    def frame(
        self, batch: pa.RecordBatch | pa.Table, origin: Origin, *, cursor: Cursor | None = None, **said: str
    ) -> Any:
        """Cut to the caller's columns and rows, with provenance and what else the frame says of itself."""
        attrs = said | Provenance(
            tuple(origin.servers), self.table.name, cursor, origin.complete, personal=origin.personal,
            left_out=origin.left_out,
        ).attrs()  # fmt: skip
        whole = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        data = whole.slice(0, self.limit).select(list(self.names))
        return shape(described(data, attrs), self.table, as_=self.as_, decimals=self.decimals, attrs=attrs)


@dataclass
class Origin:
    """Which servers answered, whether the answers are all there is, and what was done with personal data."""

    servers: dict[str, None] = field(default_factory=dict)
    complete: bool = True
    personal: bool = False
    left_out: tuple[str, ...] = ()

    def body(self, calls: Calls, call: str, *arguments: Any, **options: Any) -> dict[str, Raw]:
        """Send a call and take its answer apart; empty where the call takes a 404 for "there is none".

        Raises:
            DecodeError: the answer is no JSON object.
        """
        answer = calls.raw(call, *arguments, **options)
        if answer is None:
            return {}
        self.servers[source_of(answer.server)] = None
        try:
            return _members.decode(answer.value)
        except msgspec.DecodeError as error:
            endpoint = f"{answer.request.endpoint.method} {answer.request.endpoint.path}"
            raise DecodeError(f"{endpoint}: the answer is no JSON object", endpoint=endpoint) from error

    @contextmanager
    def tolerating(self, *, allow_partial: bool) -> Iterator[None]:
        """Turn a fault into an incomplete result where the caller allowed it."""
        try:
            yield
        except (RequestError, PagingError, DecodeError) as error:
            if not allow_partial:
                raise
            self.complete = False
            _log.warning("the load ended early: %s", error)


def items_of(members: dict[str, Raw], name: str, endpoint: str) -> list[Raw]:
    """The list under a member of an answer.

    Raises:
        DecodeError: it is missing or no list.
    """
    try:
        return _items.decode(members[name])
    except (KeyError, msgspec.DecodeError) as error:
        raise DecodeError(f"{endpoint}: {name!r} is missing or no list", endpoint=endpoint, column=name) from error


def list_pages(
    origin: Origin,
    calls: Calls,
    call: str,
    *,
    items: str,
    following: str,
    argument: str,
    endpoint: str,
    form: Form,
    optional: bool = False,
) -> list[Raw]:
    """Collect the items of all pages, or as many as the caller wants.

    Args:
        origin: notes who answered.
        calls: the interface.
        call: its call for one page.
        items: the member with the page's items.
        following: the member with the next page's token.
        argument: the call's argument for the token.
        endpoint: for messages.
        form: the caller's limit, and whether a part will do.
        optional: the contract lets a page without items leave the member out.
    """

    def fetch(token: Token | None) -> dict[str, Raw]:
        return origin.body(calls, call, **({} if token is None else {argument: token}))

    def split(page: dict[str, Raw]) -> tuple[list[Raw], Token | None]:
        try:
            token = _token.decode(page.get(following, b"null"))
        except msgspec.DecodeError as error:
            raise DecodeError(f"{endpoint}: {following!r} is no page token: {error}", endpoint=endpoint) from error
        if optional and bytes(page.get(items, b"null")) == b"null":
            return [], token
        return items_of(page, items, endpoint), token

    found: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        for item in follow_tokens(fetch, split, endpoint):
            found.append(item)
            if form.limit is not None and len(found) >= form.limit:
                break
    return found
