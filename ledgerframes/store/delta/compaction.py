"""The files of a table that are worth joining, and their rows; `delta` calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.store.delta.row_order import ROWS_PER_GROUP, sorted_by, windows
from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.tables.table import Table

if TYPE_CHECKING:
    import pyarrow.dataset as ds

#: Maximum bytes of a joined file; one is held in memory while it is written.
_TARGET: Final = 64_000_000


def is_small(file: StoredFile) -> bool:
    """Whether a file should be joined with others once there are many; two larger ones never fit one file."""
    return 2 * file.size <= _TARGET


def groups_to_join(
    files: Iterable[StoredFile], partition: Sequence[tuple[str, str, Any]] | None
) -> Iterator[list[StoredFile]]:
    """The groups of small files to join, in order of time.

    Args:
        files: the files of a table.
        partition: the partition, as `(name, "=", value)`; None for all.
    """
    wanted = {name: str(value) for name, _, value in partition or ()}
    parts: dict[tuple[str, ...], list[StoredFile]] = defaultdict(list)
    for file in files:
        values = {name: str(value) for name, value in file.partition.items()}
        if all(values.get(name) == value for name, value in wanted.items()):
            parts[(str(file.changes), *values.values())].append(file)
    for part in parts.values():
        yield from _groups(sorted(part, key=lambda file: (file.interval or (0, 0, 0), file.path)))


def _groups(part: Sequence[StoredFile]) -> Iterator[list[StoredFile]]:
    group: list[StoredFile] = []
    size = 0
    for file in part:
        if file.size >= _TARGET:
            continue
        if group and size + file.size > _TARGET:
            if len(group) > 1:
                yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if len(group) > 1:
        yield group


def joined_rows(
    table: Table, data: ds.FileSystemDataset, paths: Iterable[str], schema: pa.Schema
) -> Iterator[pa.Table]:
    """The rows of some files of a table, a row group or a slab at a time."""
    import pyarrow.dataset as ds

    fragments = {fragment.path: fragment for fragment in data.get_fragments()}
    chosen = [fragments[path] for path in paths]
    if not sorted_by(table):
        yield from _row_groups(chosen, schema)
        return
    files = ds.FileSystemDataset(chosen, data.schema, data.format, data.filesystem)
    for part in windows(files):
        yield files.to_table(columns=schema.names, filter=part).cast(schema).sort_by("record_time")


def _row_groups(fragments: Iterable[ds.Fragment], schema: pa.Schema) -> Iterator[pa.Table]:
    buffered = schema.empty_table()
    for fragment in fragments:
        for batch in fragment.to_batches(schema=schema, batch_size=ROWS_PER_GROUP, batch_readahead=1):
            buffered = pa.concat_tables([buffered, pa.Table.from_batches([batch]).cast(schema)])
            while buffered.num_rows >= ROWS_PER_GROUP:
                yield buffered.slice(0, ROWS_PER_GROUP)
                buffered = buffered.slice(ROWS_PER_GROUP)
    if buffered.num_rows:
        yield buffered
