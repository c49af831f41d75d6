"""`ParsedPage`: a page of updates parsed by the compiled decoder; `batches_of` converts some to tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import starmap
from types import ModuleType
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.compiled.choice import compiled
from ledgerframes.paging.cursor import Cursor
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

    @classmethod
    def parse(cls, body: bytes) -> ParsedPage | None:
        """Parse a page; None if the Python path has to read all of it.

        Raises:
            ConfigurationError: `LEDGERFRAMES_DECODER` is not valid.
        """
        module = compiled()
        page = None if module is None else module.read(body)
        if module is None or page is None:
            return None
        migration_ids, micros, update_ids, left = module.places(page)
        cursors = list(starmap(Cursor, zip(migration_ids, micros, strict=True)))
        raws = {position: body[start:stop] for position, (start, stop) in left.items()}
        return cls(body, cursors, update_ids, raws, module, page)

    def __len__(self) -> int:
        return len(self.cursors)


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
