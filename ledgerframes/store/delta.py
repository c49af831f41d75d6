"""One Delta table of a store: made, opened, appended to and read; nothing else here talks to `deltalake`."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import StoreError
from ledgerframes.tables.kinds import JSON
from ledgerframes.tables.table import Table

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from deltalake import CommitProperties, DeltaTable

#: A checkpoint after so many commits keeps opening a table quick.
_CHECKPOINT_EVERY: Final = 50
_COLOURS: Final = re.compile("\x1b" + r"\[[0-9;]*m")
_LONGEST: Final = 500
#: What a read of a short range has to read at least.
_ROWS_A_GROUP: Final = 20_000
_KEEP: Final = "interval 36500 days"  # only compact(forget_before=) removes


class DeltaStoreTable:
    """A table of the store, whether it exists yet or not.

    Not safe for several threads at once, except where a method says so.

    Args:
        table: its declaration.
        url: folder or object-store URL.
        storage_options: for the object store.
        partition_by: the columns that make folders.
    """

    def __init__(
        self, table: Table, url: str, *, storage_options: Mapping[str, str], partition_by: Sequence[str] = ()
    ) -> None:
        self.table = table
        self.url = url
        self._options = dict(storage_options)
        self._partition_by = list(partition_by)
        self._handle: DeltaTable | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    def refresh(self) -> DeltaStoreTable:
        """Read the newest state of the log; a table that is not there stays absent."""
        with self._lock:
            self._handle = self._open(None)
        return self

    @property
    def handle(self) -> DeltaTable | None:
        """The table as last read, or None where there is none."""
        return self._handle

    @property
    def exists(self) -> bool:
        """Whether the table was there when it was last read."""
        return self._handle is not None

    def dataset(self) -> ds.Dataset:
        """All rows of the state last read, in the columns that are stored; none where there is no table."""
        import pyarrow.dataset as ds

        if self._handle is None:
            return ds.dataset(self.table.schema.empty_table())
        return self._handle.to_pyarrow_dataset()

    def partition_files(self) -> Counter[tuple[str, ...]]:
        """How many files each partition has, by the values of its columns as texts."""
        if self._handle is None or not self._partition_by:
            return Counter()
        actions = pa.table(self._handle.get_add_actions(flatten=True))
        names = [f"partition.{name}" for name in self._partition_by]
        if not actions.num_rows or not set(names) <= set(actions.column_names):
            return Counter()
        keys = zip(*(actions[name].to_pylist() for name in names), strict=True)
        return Counter(tuple(map(str, key)) for key in keys)

    @property
    def version(self) -> int | None:
        """The version last read, or None where there is no table."""
        return None if self._handle is None else self._handle.version()

    def as_of(self, version: int | None) -> DeltaStoreTable:
        """The table in an older state, for reading; without a version, as if it were not there."""
        self._handle = None if version is None else self._open(version)
        return self

    def size(self) -> dict[str, Any]:
        """Rows, files and bytes, by the log alone."""
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

    def number(self, app_id: str) -> int | None:
        """The number that the log keeps under a name."""
        return None if self._handle is None else self._handle.transaction_version(app_id)

    def property(self, key: str) -> str | None:
        """A text that the table was made with."""
        return None if self._handle is None else self._handle.metadata().configuration.get(key)

    def create(self, properties: Mapping[str, str]) -> None:
        """Make the table, empty, with a few texts that stay with it."""
        from deltalake import DeltaTable

        stats = ",".join(_stats_columns(self.table))
        with _plain_errors(self.url, "be made"):
            self._handle = DeltaTable.create(
                self.url,
                schema=self.table.schema,
                mode="error",
                partition_by=self._partition_by,
                name=self.name,
                description=self.table.meaning,
                configuration={
                    "delta.dataSkippingStatsColumns": stats,
                    "delta.checkpointInterval": str(_CHECKPOINT_EVERY),
                    "delta.logRetentionDuration": _KEEP,
                    "delta.deletedFileRetentionDuration": _KEEP,
                    **properties,
                },
                storage_options=self._options,
                raise_if_key_not_exists=False,
            )

    def append(self, batches: Sequence[pa.RecordBatch], numbers: Mapping[str, int]) -> None:
        """Add rows and set numbers in one commit, through the handle whose numbers were read.

        Raises:
            StoreError: another writer was there first, or the storage refused.
        """
        from deltalake import write_deltalake

        handle = self._handle
        if handle is None:
            raise StoreError(f"{self.url}: the table is not there; it has to be made first")
        with _plain_errors(self.url, "be written"):
            schema = self.table.schema.remove_metadata()
            rows = pa.RecordBatchReader.from_batches(schema, [batch.cast(schema) for batch in batches])
            write_deltalake(
                handle,
                rows,
                mode="append",
                schema_mode="merge" if self._differs(handle) else None,
                writer_properties=_writer(self.table),
                commit_properties=_commit(numbers),
            )

    def check_schema(self) -> None:
        """Refuse a stored table that this version cannot extend without changing what is there.

        Raises:
            StoreError: a column has another type, or a new column cannot be null for old rows.
        """
        if self._handle is None:
            return
        stored = pa.schema(self._handle.schema().to_arrow())
        for field in self.table.schema:
            if field.name not in stored.names:
                if not field.nullable:
                    raise self._incompatible(f"it has no column {field.name!r}, which every row needs")
            elif not _same(stored.field(field.name).type, field.type):
                raise self._incompatible(
                    f"its column {field.name!r} is {stored.field(field.name).type}, this version writes {field.type}"
                )
        for field in stored:
            if field.name not in self.table.names and not field.nullable:
                raise self._incompatible(f"it needs a column {field.name!r} that this version does not know")

    def compact(self, partition: Sequence[tuple[str, str, Any]] | None = None) -> None:
        """Join small files, of one partition or everywhere, and write a checkpoint."""
        if self._handle is None:
            return
        with _plain_errors(self.url, "be compacted"):
            self._handle.optimize.compact(
                partition_filters=None if partition is None else list(partition),
                writer_properties=_writer(self.table),
                max_concurrent_tasks=1,
            )
            self._handle.create_checkpoint()

    def forget(self, hours: int) -> None:
        """Remove files that no state of the last so many hours needs, and the log of older states."""
        if self._handle is None:
            return
        with _plain_errors(self.url, "be cleaned"):
            self._handle.vacuum(retention_hours=hours, dry_run=False, enforce_retention_duration=False)

    def replace(self, data: pa.Table) -> None:
        """Put these rows in place of all there are, in one commit."""
        from deltalake import write_deltalake

        with _plain_errors(self.url, "be written"):
            write_deltalake(
                self.url, data, mode="overwrite", writer_properties=_writer(self.table), commit_properties=_commit({}),
                storage_options=self._options,
            )  # fmt: skip
        self.refresh()

    def _incompatible(self, why: str) -> StoreError:
        return StoreError(
            f"{self.url}: the stored table does not fit this version of ledgerframes: {why}. Read it with the version"
            " that wrote it, or sync into a new store"
        )

    def _differs(self, handle: DeltaTable) -> bool:
        return {field.name for field in handle.schema().fields} != set(self.table.names)

    def _open(self, version: int | None) -> DeltaTable | None:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        if "://" not in self.url and not (Path(self.url) / "_delta_log").is_dir():
            return None
        with _plain_errors(self.url, "be read"):
            try:
                return DeltaTable(self.url, version=version, storage_options=self._options)
            except TableNotFoundError:
                return None


def _stats_columns(table: Table) -> Iterable[str]:
    wanted = ("record_time", "update_id", "contract_id", "unassign_id", "party_id", "loaded_at")
    return [name for name in table.names if name in wanted] or table.names[:1]


def _same(stored: pa.DataType, declared: pa.DataType) -> bool:
    """Whether two types hold the same; Delta calls the elements of lists and offsets of texts otherwise."""
    if pa.types.is_list(declared):
        return bool(pa.types.is_list(stored) or pa.types.is_large_list(stored))
    if pa.types.is_string(declared):
        return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored) or pa.types.is_string_view(stored))
    same: bool = stored == declared
    return same


def _writer(table: Table) -> Any:
    """zstd; statistics for the columns that reads are cut by, dictionaries where values repeat."""
    from deltalake import ColumnProperties, WriterProperties

    none = ColumnProperties(statistics_enabled="NONE")
    own = {name: ColumnProperties(statistics_enabled="CHUNK") for name in _stats_columns(table)}
    alone = ColumnProperties(statistics_enabled="NONE", dictionary_enabled=False)
    own |= {column.name: alone for column in table.columns if column.kind is JSON or column.name == "event_id"}
    return WriterProperties(
        compression="ZSTD", compression_level=1, max_row_group_size=_ROWS_A_GROUP,
        default_column_properties=none, column_properties=own,
    )  # fmt: skip


def _commit(numbers: Mapping[str, int]) -> CommitProperties:
    from deltalake import CommitProperties, Transaction

    # No retries: what another writer did since the numbers were read may make this commit wrong.
    return CommitProperties(
        app_transactions=[Transaction(name, number) for name, number in numbers.items()], max_commit_retries=0
    )


@contextmanager
def _plain_errors(url: str, verb: str) -> Iterator[None]:
    """Turn what the storage says into a StoreError with the place and what to do."""
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except CommitFailedError as error:
        raise StoreError(
            f"{url} cannot {verb}: another writer changed the store at the same time ({error}). Nothing is lost: run"
            " sync again"
        ) from error
    except (DeltaError, OSError) as error:
        text = " ".join(_COLOURS.sub("", str(error)).split())
        raise StoreError(f"{url} cannot {verb}: {text[:_LONGEST]}. {_advice(text)}") from error


def _advice(text: str) -> str:
    lowered = text.lower()
    if "no space" in lowered or "quota" in lowered or "os error 28" in lowered:
        return "The disk is full: free some space and run sync again; what was committed stays"
    if "nosuchbucket" in lowered:
        return "There is no such bucket: make it, or mend the URL"
    if "accessdenied" in lowered or "403 forbidden" in lowered or "signaturedoesnotmatch" in lowered:
        return "The object store refuses the credentials: check storage_options, or the variables that it reads"
    if "error sending request" in lowered or "connection refused" in lowered or "error trying to connect" in lowered:
        return "The object store cannot be reached: check the endpoint in storage_options and the network"
    if "permission" in lowered or "read-only" in lowered or "os error 13" in lowered or "os error 30" in lowered:
        return "The folder cannot be written: check its owner and permissions, or open a store elsewhere"
    return "What was committed before stays; mend the storage, or restore the folder from a copy, and run sync again"
