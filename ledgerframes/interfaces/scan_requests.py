"""What the requests of scan's histories share: the body of a page, and the encoding of values."""

from __future__ import annotations

from typing import Any, Literal

from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import Positive32, fits
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Bound, bound
from ledgerframes.timestamps import format_timestamp
from ledgerframes.transport.request import Endpoint, Request

ValueEncoding = Literal["compact_json", "protobuf_json"]


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
