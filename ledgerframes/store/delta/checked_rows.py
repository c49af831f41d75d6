"""`checked_rows`: a table's files as a dataset that verifies pages as it reads; `DeltaStoreTable` uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.store.delta.stored_files import Files


class LocalRows(ds.FileSystemDataset):  # type: ignore[misc]
    """Files of a folder, whose rows are decoded as they are taken.

    Attributes:
        every: the same without a filter; None if it has none.
        wanted: the filter.
    """

    every: LocalRows | None = None
    wanted: pc.Expression | None = None

    def filter(self, expression: pc.Expression) -> LocalRows:
        """The rows that match."""
        found: LocalRows = super().filter(expression)
        found.every, found.wanted = self.every or self, _both(self.wanted, expression)
        return found

    def scanner(self, columns: Any = None, **options: Any) -> Any:
        """A scanner over the rows, with Arrow's options."""
        own = {"batch_readahead": 2, "fragment_readahead": 1, "use_threads": False}
        return _Scan(self, columns, options.get("filter"), super().scanner(columns, **{**own, **options}))

    def to_table(self, columns: Any = None, **options: Any) -> pa.Table:
        """All rows in memory, with Arrow's options."""
        return super().to_table(columns, **{"use_threads": True, **options})


@dataclass(frozen=True)
class _Scan:
    """A scanner whose reader reads one row group after the other.

    DuckDB reads so. Arrow's own reader decodes up to a gigabyte ahead where DuckDB takes rows slowly, as when it writes
    aside what does not fit into memory; or, without threads, all that is left once a LIMIT or Ctrl-C ends a query.
    """

    rows: LocalRows
    columns: list[str] | None
    filter: pc.Expression | None
    scanner: ds.Scanner

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows in batches."""
        return pa.RecordBatchReader.from_batches(self.scanner.projected_schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        every, wanted = self.rows.every or self.rows, _both(self.rows.wanted, self.filter)
        for fragment in every.get_fragments(filter=wanted):
            for group in fragment.split_by_row_group(filter=wanted, schema=every.schema):
                rows = group.to_table(every.schema, columns=self.columns, filter=wanted)
                yield from rows.to_batches()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scanner, name)


def _both(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    return other if one is None else one if other is None else one & other


def checked_rows(stored: ds.Dataset, files: Files, declared: pa.Schema) -> ds.FileSystemDataset:
    """The rows of Delta's dataset, with page checksums verified.

    Args:
        stored: the dataset.
        files: its files.
        declared: the columns of the table; those that an older version did not write are null.
    """
    # Reading ahead, and the parts of a file together, helps where each request takes long.
    options = ds.ParquetFragmentScanOptions(pre_buffer=not files.local, page_checksum_verification=True)
    format_ = ds.ParquetFileFormat(default_fragment_scan_options=options)
    fragments = [
        format_.make_fragment(
            fragment.path, filesystem=files.filesystem, partition_expression=fragment.partition_expression
        )
        for fragment in stored.get_fragments()
    ]
    missing = [field for field in declared if field.name not in stored.schema.names]
    schema = pa.schema([*stored.schema, *missing]) if missing else stored.schema
    kind = LocalRows if files.local else ds.FileSystemDataset
    return kind(fragments, schema, format_, files.filesystem)
