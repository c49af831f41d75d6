"""`ParsedPage`: a page of updates that the compiled decoder has taken apart, for its cursors and for its tables."""

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
    """A page as the compiled decoder sees it.

    Attributes:
        body: the page as sent.
        cursors: of every item; those of items that are left to the Python path mean nothing.
        update_ids: the same.
        left: the items that are left to the Python path, as sent, by position.
    """

    body: bytes
    cursors: list[Cursor]
    update_ids: list[str]
    left: dict[int, bytes]
    _module: ModuleType
    _page: Any

    @classmethod
    def parse(cls, body: bytes) -> ParsedPage | None:
        """Take a page apart; None where the Python path has to read all of it.

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

    def batches(self, tables: Collection[str], rows: Sequence[int]) -> dict[str, pa.RecordBatch] | None:
        """The tables of some items, none of them left to the Python path; None if they do not fit one batch."""
        wanted = [table.name in tables for table in _TABLES]
        arrays = self._module.columns(self._page, list(rows), *wanted)
        if arrays is None:
            return None
        # By address: for small pages the schema's way through a capsule takes longer than everything else.
        return {
            table.name: pa.RecordBatch._import_from_c(array[1], table.schema)  # noqa: SLF001 - documented for this
            for table, array in zip(_TABLES, arrays, strict=True)
            if array is not None
        }
