"""`Root`: the log of `updates` and the document of coverage that it names; `Lake` opens it, `HistoryTables` commits it.

Every change of a history ends with one commit here. What other tables hold beyond the versions that the document names
is not there yet: readers do not look at it, and the next writer restores these tables to what the document names.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from ledgerframes.errors import StoreError
from ledgerframes.store.coverage_document import Document, Slots
from ledgerframes.store.delta.new_files import NewFile
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.documents import Documents

#: The name under which the log of `updates` keeps the number of the document.
NAME: Final = "ledgerframes"


class Root:
    """The root of a lake in one state.

    Args:
        table: `updates`.
        documents: where the documents are.

    Attributes:
        table: `updates`.
        document: what its log names; an empty one in a lake without a history.
    """

    def __init__(self, table: DeltaStoreTable, documents: Documents) -> None:
        self.table = table
        self.document = Document()
        self._documents = documents

    def read(self) -> Root:
        """Read the document that the log names, in the state in which the table was opened.

        Raises:
            StoreError: the document is lost or damaged.
        """
        number = self.table.number(NAME)
        document = Document() if number is None else self._documents.read(number)
        if document is None:
            raise StoreError(
                f"{self.table.url}: the document {number}, which says what the lake covers, is lost or damaged."
                " store.repair() goes back to the one before, and the next sync reads what is missing; or restore the"
                " folder _coverage from a copy"
            )
        self.document = document
        return self

    def commit(
        self,
        histories: Mapping[str, Slots],
        tables: Iterable[DeltaStoreTable],
        batches: Sequence[pa.RecordBatch] = (),
        files: Sequence[NewFile] = (),
        replaced: tuple[pa.Table, Sequence[StoredFile]] | None = None,
    ) -> None:
        """Name the versions of some tables, and what histories cover, in the commit that changes `updates`.

        Args:
            histories: what some histories cover by now.
            tables: those that changed, as their last commits left them.
            batches: rows to add to `updates`.
            files: of further rows.
            replaced: instead, rows to add and the files to take out.

        Raises:
            StoreError: another writer was there first, or the storage refused; then nothing has changed.
        """
        versions = {table.name: table.version for table in tables if table is not self.table}
        document = replace(
            self.document,
            # A name is never used twice, not even by a writer that was killed before its commit.
            number=max(self.document.number + 1, time.time_ns() // 1_000),
            before=self.document.number,
            tables={**self.document.tables, **{name: one for name, one in versions.items() if one is not None}},
            histories={**self.document.histories, **histories},
        )
        self._documents.add(document)
        numbers = {NAME: document.number}
        if replaced is None:
            self.table.append(batches, numbers, files)
        else:
            self.table.change(*replaced, numbers)
        self.document = document
