"""Rows of a computed table that can still change, in files of their own, which a commit can replace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.store.delta.table import DeltaStoreTable


def open_rows(table: DeltaStoreTable, wanted: pc.Expression) -> pa.Table:
    """The open rows that match a filter, in the declared columns and types, without metadata and constraints."""
    data = table.dataset()
    with damage_named([table]):
        parts = [fragment.to_table(schema=data.schema, filter=wanted) for _, fragment in _open_files(table, data)]
    schema = pa.schema([pa.field(field.name, field.type) for field in table.table.schema])
    return pa.concat_tables([data.schema.empty_table(), *parts]).select(schema.names).cast(schema)


def final_data(table: DeltaStoreTable) -> ds.Dataset:
    """The rows that do not change any more."""
    data, files = table.dataset(), table.files
    listed = {} if files is None else files.listed
    final = [one for one in data.get_fragments() if not listed[one.path].changes] if files is not None else []
    return ds.FileSystemDataset(final, data.schema, data.format, data.filesystem)


def files_with(table: DeltaStoreTable, key: str, keys: pa.Array) -> list[StoredFile]:
    """The files of open rows that contain any of some keys."""
    if not len(keys):
        return []
    data, wanted = table.dataset(), pc.field(key).isin(keys)
    with damage_named([table]):
        return [file for file, fragment in _open_files(table, data) if fragment.scanner(filter=wanted).count_rows()]


def rows_beside(table: DeltaStoreTable, files: Sequence[StoredFile], key: str, keys: pa.Array) -> Iterator[pa.Table]:
    """The rows of some files without those of some keys, one file at a time."""
    data, paths = table.dataset(), {file.path for file in files}
    for file, fragment in _open_files(table, data):
        if file.path in paths:
            remaining = fragment.to_table(schema=data.schema, filter=~pc.field(key).isin(keys))
            if remaining.num_rows:
                yield remaining


def _open_files(table: DeltaStoreTable, data: ds.Dataset) -> Iterator[tuple[StoredFile, ds.Fragment]]:
    files = table.files
    listed = {} if files is None else files.listed
    for fragment in data.get_fragments() if files is not None else ():
        file = listed[fragment.path]
        if file.changes:
            yield file, fragment
