"""Builds the parts of a commit of a Delta table; `DeltaStoreTable` commits them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.delta.stored_files import StoredFile

if TYPE_CHECKING:
    from deltalake import CommitProperties
    from deltalake.transaction import RemoveAction

#: The name under which a log stores the number of its document.
NUMBER: Final = "ledgerframes"
#: How long logs and files are kept: only `compact(forget_before=)` removes any.
KEEP: Final = "interval 36500 days"


def properties(number: int | None = None) -> CommitProperties:
    """The properties of a commit: the number of a document; a commit of another writer in between is a conflict."""
    from deltalake import CommitProperties, Transaction

    # No retries: changes by another writer since the table was read may make this commit wrong.
    transactions = [] if number is None else [Transaction(NUMBER, number)]
    return CommitProperties(app_transactions=transactions, max_commit_retries=0)


def removed(file: StoredFile, *, changes: bool) -> RemoveAction:
    """The log action that removes a file from the table."""
    from deltalake.transaction import RemoveAction

    values: dict[str, str | None] = {name: str(value) for name, value in file.partition.items()}
    # Delta counts in milliseconds.
    now = time.time_ns() // 1_000_000
    return RemoveAction(file.path, changes, now, size=file.size, partition_values=values)


def parted(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """The rows by partition, in the given order; empty if there are no rows."""
    if not rows.num_rows:
        return
    if not names:
        yield {}, rows
        return
    parts: dict[tuple[Any, ...], list[pa.RecordBatch]] = defaultdict(list)
    for batch in rows.to_batches():
        for values, part in _parts(batch, names):
            parts[values].append(part)
    for values in list(parts):
        yield dict(zip(names, values, strict=True)), pa.Table.from_batches(parts.pop(values))


def _parts(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """The rows of a batch by partition; most batches have one, and are not copied."""
    if not batch.num_rows:
        return
    ends = [pc.min_max(batch[name]).as_py() for name in names]
    if all(end["min"] == end["max"] and not batch[name].null_count for name, end in zip(names, ends, strict=True)):
        yield tuple(end["min"] for end in ends), batch
        return
    for values in pa.table(batch.select(names)).group_by(list(names)).aggregate([]).to_pylist():
        same = [pc.equal(batch[name], pa.scalar(values[name], batch[name].type)) for name in names]
        yield tuple(values[name] for name in names), batch.filter(reduce(pc.and_, same))
