"""`DeltaStoreTable`: creates, opens, changes and reads one Delta table; the rest of the store goes through it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.decoding.personal import LEFT_OUT, without_personal_data
from ledgerframes.store.delta.data_files import FileWriter, NewFile, filesystem, indexed_columns, parted
from ledgerframes.store.delta.storage_errors import is_there, plain_errors
from ledgerframes.store.delta.stored_files import CHANGING, Files, StoredFile, groups_to_join, joined_rows
from ledgerframes.tables.table import Table
from ledgerframes.threads import to_the_end

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from deltalake import CommitProperties, DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

    from ledgerframes.store.root import Root

#: A checkpoint after this many commits keeps opening a table fast.
# Without checkpoints, opening a table reads every log entry: after 3,000 commits one took 225 ms instead of 28.
_CHECKPOINT_EVERY: Final = 50
#: Files of a partition, or of a table without: a read opens each once; opening the table reads a log entry per file.
_FILES: Final = 100
# If large files alone come close to that number, fewer small files than this are not worth joining.
_WORTH_JOINING: Final = 10
#: The name under which a log stores the number of its document.
NUMBER: Final = "ledgerframes"
#: The property of a table that was created without personal data; every writer respects it.
PROPERTY: Final = "ledgerframes.personal"
LEFT_OUT_OF_IT: Final = "left out"
#: How long logs and files are kept: only `compact(forget_before=)` removes any.
KEEP: Final = "interval 36500 days"


def properties(number: int | None = None) -> CommitProperties:
    """The properties of a commit: the number of a document; a commit of another writer in between is a conflict."""
    from deltalake import CommitProperties, Transaction

    # No retries: changes by another writer since the table was read may make this commit wrong.
    transactions = [] if number is None else [Transaction(NUMBER, number)]
    return CommitProperties(app_transactions=transactions, max_commit_retries=0)


class Named(msgspec.Struct, frozen=True):
    """The state in which a table was left.

    Attributes:
        version: of the Delta table; -1 if there was none.
        rows: the number of its rows, by its log: fewer show that it lost entries.
    """

    version: int = -1
    rows: int = 0


class DeltaStoreTable:
    """A table of the store, whether or not it exists yet.

    Not thread-safe, except where a method says so.

    Args:
        table: its declaration.
        url: folder or object-store URL.
        storage_options: for the object store.
        partition_by: the columns that form folders.
        personal: whether personal data is kept, if the table has to be created; an existing one records it.
        root: names its state after every change; None for a table that is not changed.
    """

    def __init__(
        self,
        table: Table,
        url: str,
        *,
        storage_options: Mapping[str, str],
        partition_by: Sequence[str] = (),
        personal: Callable[[], bool] | None = None,
        root: Root | None = None,
    ) -> None:
        self.table = table
        self.name = table.name
        self.url = url
        self._options = dict(storage_options)
        self._partition_by = list(partition_by)
        self._personal = personal
        self._root = root
        self._handle: DeltaTable | None = None
        self._lock = threading.Lock()

    def refresh(self) -> DeltaStoreTable:
        """Read the newest state of the log; a table that does not exist stays absent."""
        with self._lock:
            self._handle = self._open(None)
        return self

    @property
    def handle(self) -> DeltaTable | None:
        """The table as last read; None if there is none."""
        return self._handle

    @property
    def exists(self) -> bool:
        """Whether the table existed when it was last read."""
        return self._handle is not None

    def partition_files(self, *, small: bool = False) -> Counter[tuple[Any, ...]]:
        """The number of files per partition, or of small ones, by the values of its columns."""
        listed = [file for file in self.files.listed.values() if file.small or not small]
        return Counter(tuple(file.partition[name] for name in self._partition_by) for file in listed)

    @property
    def version(self) -> int | None:
        """The version last read; None if there is no table."""
        return None if self._handle is None else self._handle.version()

    def as_of(self, version: int | None) -> DeltaStoreTable:
        """Read the table in an older state; without a version, as if it did not exist."""
        self._handle = None if version is None else self._open(version)
        return self

    @property
    def files(self) -> Files:
        """The files of the state last read; none if there is no table."""
        return Files(self.name, self.url, self._options, self._handle)

    def dataset(self) -> ds.FileSystemDataset:
        """The rows as a dataset, checked when it is read; columns that an older version did not write are null."""
        import pyarrow.dataset as ds

        from ledgerframes.store.delta.checked_rows import checked_rows

        if self._handle is None:
            return ds.dataset(self.table.schema.empty_table())
        files = self.files
        # It calls Python and drops what a signal's handler raises there; an exiting program would crash.
        call = partial(self._handle.to_pyarrow_dataset, filesystem=files.filesystem)
        with plain_errors(self.url, "be read"):
            stored = to_the_end(call, "ledgerframes-dataset")
        return checked_rows(stored, files, self.table.schema)

    def size(self) -> dict[str, Any]:
        """The number of rows, files and bytes, by the log alone."""
        if self._handle is None:
            return {"table": self.name, "rows": 0, "files": 0, "bytes": 0, "version": None}
        actions = pa.table(self._handle.get_add_actions(flatten=True))
        return {
            "table": self.name,
            "rows": pc.sum(actions["num_records"]).as_py() or 0,
            "files": actions.num_rows,
            "bytes": pc.sum(actions["size_bytes"]).as_py() or 0,
            "version": self._handle.version(),
        }

    def state(self) -> Named:
        """The state last read."""
        size = self.size()
        return Named() if size["version"] is None else Named(size["version"], size["rows"])

    def number(self) -> int | None:
        """The number of the document that the log names; see `Root`."""
        with plain_errors(self.url, "be read"):  # the log is read only now, and may have been shortened
            return None if self._handle is None else self._handle.transaction_version(NUMBER)

    @property
    def impersonal(self) -> bool:
        """Whether it was created without personal data."""
        return self._handle is not None and self._handle.metadata().configuration.get(PROPERTY) == LEFT_OUT_OF_IT

    @property
    def left_out(self) -> tuple[str, ...]:
        """The personal data that was left out when it was created, for provenance."""
        return (LEFT_OUT,) if self.impersonal else ()

    def strips(self) -> bool:
        """Whether personal data is removed from rows before they are stored."""
        if self._handle is not None:
            return self.impersonal
        return self._personal is not None and not self._personal()

    def as_stored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as the table stores them: without personal data, if it was created so."""
        return without_personal_data(self.table, batch) if self.strips() else batch

    def create(self) -> None:
        """Create the table, empty; a table left by a killed writer is reused, and its rows taken back."""
        from deltalake import DeltaTable

        if self._root is not None:
            self._root.making()
        stats = ",".join(indexed_columns(self.table))
        with plain_errors(self.url, "be made"):
            self._handle = DeltaTable.create(
                self.url,
                schema=self.table.schema,
                mode="ignore",
                partition_by=self._partition_by,
                name=self.name,
                description=self.table.meaning,
                configuration={
                    "delta.dataSkippingStatsColumns": stats,
                    "delta.checkpointInterval": str(_CHECKPOINT_EVERY),
                    "delta.logRetentionDuration": KEEP,
                    "delta.deletedFileRetentionDuration": KEEP,
                    **({PROPERTY: LEFT_OUT_OF_IT} if self.strips() else {}),
                },
                storage_options=self._options,
                raise_if_key_not_exists=False,
            )
        if not self.restore(0):
            self._changed()

    def append(
        self, batches: Sequence[pa.RecordBatch], files: Sequence[NewFile] = (), number: int | None = None
    ) -> None:
        """Add rows, and files of rows, in one commit.

        Args:
            batches: rows.
            files: files with further rows, as `store` made them.
            number: the number of the document that the log names from now on; makes another writer's commit a conflict.

        Raises:
            StoreError: another writer was first, or the storage refused.
        """
        self.change(self._rows_of(batches), (), files=files, number=number)

    def store(self, batches: Sequence[pa.RecordBatch]) -> list[NewFile]:
        """Store rows, one file per partition, for a later commit; on a cluster, workers do.

        Raises:
            StoreError: the storage refused.
        """
        with plain_errors(self.url, "be written"):
            return self._stored(self._rows_of(batches))

    def remove(self, files: Iterable[NewFile]) -> None:
        """Remove files that will not be committed."""
        for file in files:
            with suppress(FileNotFoundError):
                filesystem(self.url, self._options).delete_file(file.path)

    def change(
        self,
        rows: pa.Table,
        without: Sequence[StoredFile],
        changing: Iterable[pa.Table] = (),
        files: Sequence[NewFile] = (),
        number: int | None = None,
    ) -> None:
        """Add rows and remove files in one commit.

        Args:
            rows: in the declared columns, and further stored ones.
            without: files that are no longer part of the table; they stay in place for older states.
            changing: rows that a later commit may replace, each part in a file of its own in the folder `CHANGING`.
            files: see `append`.
            number: see `append`.

        Raises:
            StoreError: another writer was first, or the storage refused.
        """
        self.extend()
        with plain_errors(self.url, "be written"):
            added = [*self._stored(rows), *(self._file(part, {}, CHANGING) for part in changing), *files]
            actions = [file.added(changes=True) for file in added]
            self._commit([*actions, *(file.removed(changes=True) for file in without)], number)
        self._changed()

    def compact(self, partition: Mapping[str, Any] | None = None) -> None:
        """Join small files, of one partition or everywhere, and write a checkpoint.

        Raises:
            StoreError: a file is damaged, or the storage refused; earlier commits stay.
        """
        if self._handle is None:
            return
        files, data = self.files, self.dataset()
        with plain_errors(self.url, "be compacted"):
            for group in groups_to_join(files.listed.values(), partition):
                paths = [file.path for file in group]
                files.check(paths, full=True)
                writer = FileWriter(self.table, self._file_schema())
                for rows in joined_rows(self.table, data, paths, self._file_schema()):
                    writer.write(rows)
                joined = self._put(writer, group[0].partition, CHANGING if group[0].changes else "")
                # `changes=False` marks rows as only moved, so programs that follow the table do not see them as new.
                self._commit([joined.added(changes=False), *(file.removed(changes=False) for file in group)])
            self._handle.create_checkpoint()
        self._changed()

    def compact_crowded(self) -> None:
        """Join the files of the partitions with too many, as every commit may add one to each."""
        if self.size()["files"] <= _WORTH_JOINING:
            return
        small = self.partition_files(small=True)
        for partition, count in self.partition_files().items():
            if small[partition] > max(_WORTH_JOINING, _FILES - (count - small[partition])):
                self.compact(dict(zip(self._partition_by, partition, strict=True)))

    def restore(self, version: int) -> bool:
        """Return to an older state, in a commit of its own, if the table has newer ones; returns whether it had."""
        if self._handle is None or self._handle.version() <= version:
            return False
        with plain_errors(self.url, "be written"):
            self._handle.restore(version, commit_properties=properties())
        self._changed()
        return True

    def replace(self, data: pa.Table) -> None:
        """Replace all rows by these, in one commit."""
        self.change(data, list(self.files.listed.values()))

    def _file_schema(self) -> pa.Schema:
        """The columns in the files: those declared, and those that a newer version has added."""
        assert self._handle is not None
        stored = pa.schema(self._handle.schema().to_arrow())
        fields = list(self.table.schema.remove_metadata())
        fields += [field for field in stored if field.name not in self.table.names]
        return pa.schema([field for field in fields if field.name not in self._partition_by])

    def _rows_of(self, batches: Sequence[pa.RecordBatch]) -> pa.Table:
        schema = self.table.schema.remove_metadata()
        return pa.Table.from_batches([self.as_stored(batch).cast(schema) for batch in batches], schema)

    def _stored(self, rows: pa.Table) -> list[NewFile]:
        """Rows in new files, one per partition."""
        return [self._file(part, values) for values, part in parted(rows, self._partition_by)]

    def _file(self, rows: pa.Table, partition: Mapping[str, Any], folder: str = "") -> NewFile:
        schema = pa.schema([field for field in self._file_schema() if field.name in rows.column_names])
        writer = FileWriter(self.table, schema)
        writer.write(rows.select(schema.names).cast(schema))
        return self._put(writer, partition, folder)

    def _put(self, writer: FileWriter, partition: Mapping[str, Any], folder: str) -> NewFile:
        values = {name: partition[name] for name in self._partition_by}
        return writer.store(self.url, self._options, values, folder)

    def _changed(self) -> None:
        if self._root is not None:
            self._root.changed(self)

    def _commit(self, actions: Sequence[AddAction | RemoveAction], number: int | None = None) -> None:
        handle = self._handle
        assert handle is not None
        version = handle.version() + 1
        handle.create_write_transaction(
            list(actions), "append", handle.schema(), self._partition_by, commit_properties=properties(number)
        )
        handle.update_incremental()
        if handle.version() != version:  # another writer has committed; the next commit has to fail on it
            handle.load_as_version(version)

    def extend(self) -> None:
        """Add the columns that an older version lacked, in a commit of its own.

        The Delta library accepts rows only in columns that the log knows.
        """
        from deltalake import Schema

        handle = self._handle
        assert handle is not None
        stored = {field.name for field in handle.schema().fields}
        new = [field for field in self.table.schema.remove_metadata() if field.name not in stored]
        if new:
            version = handle.version() + 1
            with plain_errors(self.url, "be written"):
                handle.alter.add_columns(Schema.from_arrow(pa.schema(new)).fields, commit_properties=properties())
            handle.load_as_version(version)

    def _open(self, version: int | None) -> DeltaTable | None:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        # Opening a missing folder would be a storage error, and most tables of a new store are missing.
        if "://" not in self.url and not is_there(self.url, "_delta_log"):
            return None
        with plain_errors(self.url, "be read"):
            try:
                return DeltaTable(self.url, version=version, storage_options=self._options)
            except TableNotFoundError:
                return None
