"""`PageBody`: the content of a request for a page of updates; everything that answers it from objects reads it."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import parse_timestamp


class _After(Struct):
    after_migration_id: int
    after_record_time: str


class _Body(Struct):
    page_size: int
    after: _After | None = None
    daml_value_encoding: str = "compact_json"


_body: Final = msgspec.json.Decoder(_Body)


class PageBody(Struct, frozen=True):
    """The content of a request.

    Attributes:
        size: the number of items.
        after: the cursor before them; None means the beginning of the ledger.
        encoding: the encoding of values.
    """

    size: int
    after: Cursor | None
    encoding: str

    @classmethod
    def read(cls, content: bytes | None) -> PageBody:
        """Read the body of a request that this package has made."""
        body = _body.decode(content or b"{}")
        at = body.after
        after = None if at is None else Cursor(at.after_migration_id, parse_timestamp(at.after_record_time)[0])
        return cls(body.page_size, after, body.daml_value_encoding)
