"""Decodes pages of updates with the compiled decoder, and with the Python path what that one leaves; readers call it.

The Python path, `history` and `page_index`, defines the correct result. The compiled decoder either decodes an item or
leaves it to the Python path. Errors always come from the Python path.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import starmap
from types import ModuleType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ledgerframes.decoding import history
from ledgerframes.decoding.compiled.choice import choice
from ledgerframes.decoding.history import ALL, HistoryBatch
from ledgerframes.decoding.page_index import ENDPOINT, peek
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError
from ledgerframes.paging.cursor import Cursor, PageIndex
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES

_TABLES: Final = (UPDATES, EVENTS, REASSIGNMENTS)


@dataclass(frozen=True)
class ParsedPage:
    """A page as parsed by the compiled decoder.

    Attributes:
        body: the page as sent.
        cursors: of every item; meaningless for items that are left to the Python path.
        update_ids: the same.
        left: the items that are left to the Python path, as sent, by position.
        module: the compiled decoder.
        handle: the compiled decoder's reference to the page.
    """

    body: bytes
    cursors: list[Cursor]
    update_ids: list[str]
    left: dict[int, bytes]
    module: ModuleType
    handle: Any

    def __len__(self) -> int:
        return len(self.cursors)


def parse_page(body: bytes) -> ParsedPage | bytes:
    """Parse a page of updates for `page_index_of` and `decode_page`, so that neither parses it again.

    Returns:
        The page, or its body if there is no compiled decoder or the Python path has to read all of it.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.
    """
    module = choice().module
    page = None if module is None else module.read(body)
    if module is None or page is None:
        return body
    migration_ids, micros, update_ids, left = module.places(page)
    cursors = list(starmap(Cursor, zip(migration_ids, micros, strict=True)))
    raws = {position: body[start:stop] for position, (start, stop) in left.items()}
    return ParsedPage(body, cursors, update_ids, raws, module, page)


def page_index_of(page: ParsedPage | bytes) -> PageIndex:
    """The cursor and the id of every item of POST /v2/updates.

    Raises:
        msgspec.DecodeError: the body is not complete JSON.
        DecodeError: an item has no cursor.
    """
    if isinstance(page, bytes):
        return peek(page)
    cursors, update_ids = page.cursors, page.update_ids
    if page.left:
        try:
            left = peek(b'{"transactions":[%b]}' % b",".join(page.left.values()))
        except (DecodeError, *UNREADABLE):
            # Read as a whole, so that the error names the item's position.
            return peek(page.body)
        cursors, update_ids = cursors.copy(), update_ids.copy()
        for place, position in enumerate(page.left):
            cursors[position], update_ids[position] = left.cursors[place], left.update_ids[place]
    return PageIndex(cursors, update_ids)


def decode_page(
    page: ParsedPage | bytes,
    *,
    endpoint: str = ENDPOINT,
    tables: Collection[str] = ALL,
    rows: Sequence[int] | None = None,
) -> HistoryBatch:
    """Turn a page into columns (contract: Scan update history items).

    Args:
        page: the body as sent, or the result of `parse_page`.
        endpoint: method and path, for messages.
        tables: which tables to build.
        rows: the positions of the items to decode; all by default.

    Raises:
        DecodeError: the body breaks the contract; it names endpoint, table, column and item.
    """
    if isinstance(page, bytes):
        page = parse_page(page)
    if isinstance(page, bytes):
        return history.decode_page(page, endpoint=endpoint, tables=tables, rows=rows)
    try:
        batches = _by_item(page, endpoint, tables, range(len(page)) if rows is None else rows)
    except (DecodeError, pa.ArrowException):
        batches = None
    if batches is None:
        # Fall back to the Python decoder for its error message.
        return history.decode_page(page.body, endpoint=endpoint, tables=tables, rows=rows)
    return HistoryBatch(batches)


def decode_pages(
    pages: Sequence[tuple[ParsedPage | bytes, Sequence[int] | None]],
    *,
    endpoint: str = ENDPOINT,
    tables: Collection[str] = ALL,
) -> HistoryBatch:
    """Turn several pages into one set of columns, which is faster than one after the other if they are small.

    Args:
        pages: at least one, as `decode_page` takes them, each with the positions of the items to decode, or None for
            all.
        endpoint: method and path, for messages.
        tables: which tables to build.

    Raises:
        DecodeError: one of them breaks the contract; `decode_page` names it.
    """
    chosen = [
        (page, range(len(page)) if rows is None else rows) for page, rows in pages if isinstance(page, ParsedPage)
    ]
    regular = len(chosen) == len(pages) and not any(page.left for page, _ in chosen)
    batches = batches_of(chosen, tables) if regular else None
    if batches is not None:
        return HistoryBatch(batches)
    return joined([decode_page(page, endpoint=endpoint, tables=tables, rows=rows) for page, rows in pages])


def joined(parts: Sequence[HistoryBatch]) -> HistoryBatch:
    """The rows of several pages in one set of columns.

    Args:
        parts: at least one, all with the same tables.
    """
    if len(parts) == 1:
        return parts[0]
    return HistoryBatch({name: pa.concat_batches([part.batches[name] for part in parts]) for name in parts[0].batches})


#: Pages, each with the positions of the items to decode, none of which are left to the Python path.
Chosen = Sequence[tuple[ParsedPage, Sequence[int]]]


def batches_of(chosen: Chosen, tables: Collection[str]) -> dict[str, pa.RecordBatch] | None:
    """The tables of some items of one page or several, in their order; None if they do not fit one batch.

    Decoding several small pages at once has the fixed cost of one: 48 columns take 0.3 ms, however few rows they have.
    """
    wanted = [table.name in tables for table in _TABLES]
    arrays = chosen[0][0].module.columns(tuple((page.handle, list(rows)) for page, rows in chosen), *wanted)
    if arrays is None:
        return None
    # By address: for small pages, passing the schema through a capsule takes longer than everything else.
    return {
        table.name: pa.RecordBatch._import_from_c(array[1], table.schema)  # noqa: SLF001 - documented for this
        for table, array in zip(_TABLES, arrays, strict=True)
        if array is not None
    }


def _by_item(
    page: ParsedPage, endpoint: str, tables: Collection[str], rows: Sequence[int]
) -> dict[str, pa.RecordBatch] | None:
    """Rows in the order of the items, whichever path has decoded them."""
    left = [row in page.left for row in rows] if page.left else []
    if not any(left):
        return batches_of([(page, rows)], tables)
    # The updates determine to which item the other rows belong.
    needed = {*tables, "updates"}
    by_python = [row for row, is_left in zip(rows, left, strict=True) if is_left]
    theirs = history.decode_items(page.left, endpoint=endpoint, tables=needed, rows=by_python).batches
    by_us = [row for row, is_left in zip(rows, left, strict=True) if not is_left]
    ours = batches_of([(page, by_us)], needed)
    if ours is None:
        return None
    own, other = np.flatnonzero(~np.array(left)), np.flatnonzero(left)
    batches = {}
    for name in (table for table in ours if table in tables):
        owners = [_owners(ours["updates"], name, own), _owners(theirs["updates"], name, other)]
        # Stable, so that the rows of an item stay in their order.
        order = np.argsort(np.concatenate(owners), kind="stable")
        batches[name] = pa.concat_batches([ours[name], theirs[name]]).take(pa.array(order))
    return batches


def _owners(updates: pa.RecordBatch, table: str, positions: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The position of the item that each row of a table belongs to."""
    if table == "updates":
        return positions
    transactions: np.ndarray[Any, Any] = np.asarray(updates["kind"].to_pylist(), object) == "transaction"
    counts = np.where(transactions, updates["event_count"].to_numpy(), 0) if table == "events" else ~transactions
    owners: np.ndarray[Any, Any] = np.repeat(positions, counts)
    return owners
