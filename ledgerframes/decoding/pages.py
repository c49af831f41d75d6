"""Decodes pages of updates with the compiled decoder, and those that it leaves with the Python path; readers call it.

The Python path, `history` and `page_index`, defines the correct result. The compiled decoder either decodes a page or
leaves it to the Python path. Errors always come from the Python path.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import starmap
from types import ModuleType
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding import history
from ledgerframes.decoding.compiled.choice import choice
from ledgerframes.decoding.history import ALL, HistoryBatch
from ledgerframes.decoding.page_index import peek
from ledgerframes.paging.cursor import Cursor, PageIndex
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES

_TABLES: Final = (UPDATES, EVENTS, REASSIGNMENTS)


@dataclass(frozen=True)
class ParsedPage:
    """A page as parsed by the compiled decoder.

    Attributes:
        body: the page as sent.
        page_index: the cursors and ids of its items.
        module: the compiled decoder.
        handle: the compiled decoder's reference to the page.
    """

    body: bytes
    page_index: PageIndex
    module: ModuleType
    handle: Any

    def __len__(self) -> int:
        return len(self.page_index.cursors)


def parse_page(body: bytes) -> ParsedPage | bytes:
    """Parse a page of updates for `page_index_of` and `decode_page`, so that neither parses it again.

    Returns:
        The page, or its body if there is no compiled decoder or the Python path has to read it.

    Raises:
        ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.
    """
    module = choice().module
    page = None if module is None else module.read(body)
    if module is None or page is None:
        return body
    migration_ids, micros, update_ids = module.places(page)
    cursors = list(starmap(Cursor, zip(migration_ids, micros, strict=True)))
    return ParsedPage(body, PageIndex(cursors, update_ids), module, page)


def page_index_of(page: ParsedPage | bytes) -> PageIndex:
    """The cursor and the id of every item of POST /v2/updates.

    Raises:
        msgspec.DecodeError: the body is not complete JSON.
        DecodeError: an item has no cursor.
    """
    return page.page_index if isinstance(page, ParsedPage) else peek(page)


def decode_page(
    page: ParsedPage | bytes, *, tables: Collection[str] = ALL, rows: Sequence[int] | None = None
) -> HistoryBatch:
    """Turn a page into columns (contract: Scan update history items).

    Args:
        page: the body as sent, or the result of `parse_page`.
        tables: which tables to build.
        rows: the positions of the items to decode; all by default.

    Raises:
        DecodeError: the body breaks the contract; it names endpoint, table, column and item.
    """
    parsed = parse_page(page) if isinstance(page, bytes) else page
    return decode_pages([(parsed, rows)], tables=tables)


def decode_pages(
    pages: Sequence[tuple[ParsedPage | bytes, Sequence[int] | None]], *, tables: Collection[str] = ALL
) -> HistoryBatch:
    """Turn several pages into one set of columns, which is faster than one after the other if they are small.

    Args:
        pages: at least one, parsed or left to the Python path, each with the positions of the items to decode, or None
            for all.
        tables: which tables to build.

    Raises:
        DecodeError: one of them breaks the contract; `decode_page` names it.
    """
    chosen = [
        (page, range(len(page)) if rows is None else rows) for page, rows in pages if isinstance(page, ParsedPage)
    ]
    batches = batches_of(chosen, tables) if len(chosen) == len(pages) else None
    if batches is not None:
        return HistoryBatch(batches)
    if len(pages) > 1:
        return joined([decode_pages([page], tables=tables) for page in pages])
    ((page, rows),) = pages
    body = page.body if isinstance(page, ParsedPage) else page
    return history.decode_page(body, tables=tables, rows=rows)


def joined(parts: Sequence[HistoryBatch]) -> HistoryBatch:
    """The rows of several pages in one set of columns.

    Args:
        parts: at least one, all with the same tables.
    """
    if len(parts) == 1:
        return parts[0]
    return HistoryBatch({name: pa.concat_batches([part.batches[name] for part in parts]) for name in parts[0].batches})


#: Pages, each with the positions of the items to decode.
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
