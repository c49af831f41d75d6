"""`checked_rows`: a table's files as a dataset that verifies pages as it reads; `DeltaStoreTable` uses it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.store.delta.stored_files import Files


class LocalRows(ds.FileSystemDataset):  # type: ignore[misc]
    """Files of a folder, of whose rows few are decoded before they are taken.

    DuckDB scans with the defaults: Arrow's threads read sixteen batches of each of four files ahead, and decode
    up to a gigabyte per scan where DuckDB takes rows slowly, as when it writes aside what does not fit into memory.
    Without threads, Arrow would read all rows before a scan that is left early, by a LIMIT or Ctrl-C, could end.
    """

    def scanner(self, columns: Any = None, **options: Any) -> ds.Scanner:
        """A scanner over the rows, with Arrow's options."""
        return super().scanner(columns, **{"batch_readahead": 1, "fragment_readahead": 1, **options})


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
