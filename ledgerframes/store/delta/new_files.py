"""`NewFile`: a stored file of rows that is not in the log yet; a table or a cluster's worker writes it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.commit_parts import parted
from ledgerframes.store.delta.data_files import FileWriter, Written, filesystem, put_file
from ledgerframes.store.delta.storage_errors import plain_errors
from ledgerframes.store.read.personal import without_personal_data
from ledgerframes.tables.catalogue import table_named

if TYPE_CHECKING:
    from deltalake.transaction import AddAction


@dataclass(frozen=True)
class NewFile:
    """A stored file.

    Attributes:
        path: below the table.
        size: bytes.
        partition: the values of the columns that form folders, as texts.
        statistics: the statistics of its rows for the log, as JSON.
    """

    path: str
    size: int
    partition: Mapping[str, str]
    statistics: str

    @cached_property
    def rows(self) -> int:
        """The number of its rows."""
        return int(msgspec.json.decode(self.statistics)["numRecords"])

    def added(self, *, changes: bool) -> AddAction:
        """The log action that adds it.

        Args:
            changes: whether its rows are new to the table.
        """
        from deltalake.transaction import AddAction

        # Delta counts in milliseconds.
        now = time.time_ns() // 1_000_000
        return AddAction(self.path, self.size, dict(self.partition), now, changes, self.statistics)


@dataclass(frozen=True)
class Destination:
    """Where the rows of a table go, as sent to workers, without secrets.

    Attributes:
        name: the table's name.
        url: its folder or object-store URL.
        partition_by: the columns that form folders.
        strips: whether personal data is removed.
    """

    name: str
    url: str
    partition_by: tuple[str, ...]
    strips: bool

    def check(self) -> None:
        """Refuse to write where the table does not exist.

        Raises:
            StoreError: a worker does not see the store's folder.
        """
        if "://" not in self.url and not (Path(self.url) / "_delta_log").is_dir():
            raise StoreError(
                f"{self.url!r} does not exist on a worker: workers write into the store, so they need its folder under"
                " the same path. Share it, or leave engine= or source= out"
            )

    def store(self, batches: Sequence[pa.RecordBatch]) -> list[NewFile]:
        """Store rows, one file per partition.

        Raises:
            StoreError: the storage refused.
        """
        table = table_named(self.name)
        whole = table.schema.remove_metadata()
        own = pa.schema([column for column in whole if column.name not in self.partition_by])
        rows = pa.Table.from_batches(
            [(without_personal_data(table, batch) if self.strips else batch).cast(whole) for batch in batches], whole
        )
        files = []
        with plain_errors(self.url, "be written"):
            for values, part in parted(rows, self.partition_by):
                writer = FileWriter(table, own)
                writer.write(part.select(own.names))
                files.append(store_file(self.url, {}, writer.finish(), values))
        return files

    def remove(self, files: Sequence[NewFile]) -> None:
        """Remove files that will not be committed."""
        for file in files:
            with suppress(FileNotFoundError):
                filesystem(self.url, {}).delete_file(file.path)


def store_file(
    url: str, options: Mapping[str, str], written: Written, partition: Mapping[str, Any], folder: str = ""
) -> NewFile:
    """Store a finished file below a table, in the folder of its partition."""
    values = {name: str(value) for name, value in partition.items()}
    folders = [f"{name}={value}" for name, value in values.items()]
    path = "/".join([*([folder] if folder else []), *folders, written.name])
    put_file(url, options, path, written.data)
    return NewFile(path, len(written.data), values, written.statistics)
