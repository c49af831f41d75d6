"""Builds the parts of a commit of a Delta table; `DeltaStoreTable` commits them."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.delta.stored_files import StoredFile
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

_EXTREMES: Final = ("min.", "max.")
_TIME: Final = pa.timestamp("us", "UTC")


def holds_the_same(stored: pa.DataType, declared: pa.DataType) -> bool:
    """Whether two types hold the same values; Delta names list elements and sizes text offsets differently."""
    if pa.types.is_list(declared):
        return bool(pa.types.is_list(stored) or pa.types.is_large_list(stored))
    if pa.types.is_string(declared):
        return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored) or pa.types.is_string_view(stored))
    same: bool = stored == declared
    return same


def properties(numbers: Mapping[str, int]) -> CommitProperties:
    """The numbers that the log keeps with a commit; another writer's commit in between is a conflict."""
    from deltalake import CommitProperties, Transaction

    # No retries: what another writer did since the numbers were read may make this commit wrong.
    return CommitProperties(
        app_transactions=[Transaction(name, number) for name, number in numbers.items()], max_commit_retries=0
    )


def removed(file: StoredFile, *, changes: bool) -> RemoveAction:
    """The log action by which a file is no longer part of the table."""
    from deltalake.transaction import RemoveAction

    values: dict[str, str | None] = {name: str(value) for name, value in file.partition.items()}
    # Delta counts in milliseconds.
    now = time.time_ns() // 1_000_000
    return RemoveAction(file.path, changes, now, size=file.size, partition_values=values)


def added_again(handle: DeltaTable | None, paths: Collection[str]) -> list[AddAction]:
    """The log actions by which files of an earlier state are part of the table again, with their statistics.

    Args:
        handle: the table in that state.
        paths: of the files.
    """
    from deltalake.transaction import AddAction

    if handle is None or not paths:
        return []
    actions = pa.table(handle.get_add_actions(flatten=True))
    for place, column in enumerate(actions.schema):
        if pa.types.is_timestamp(column.type) and column.name.startswith(_EXTREMES):
            times = actions[column.name].cast(_TIME).cast(pa.int64())
            actions = actions.set_column(place, column.name, _as_texts(times))
    now = time.time_ns() // 1_000_000
    wanted = actions.filter(pc.is_in(actions["path"], pa.array(sorted(paths), actions["path"].type)))
    return [
        AddAction(row["path"], row["size_bytes"], _folders(row), now, True, json.dumps(_statistics(row)))  # noqa: FBT003
        for row in wanted.to_pylist()
    ]


def _folders(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in _part(row, "partition.").items()}


def _as_texts(times: pa.ChunkedArray) -> pa.Array:
    texts = [None if micros is None else format_timestamp(micros) for micros in times.to_pylist()]
    return pa.array(texts, pa.string())


def _statistics(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the log says of the rows of a file, as `FileWriter` writes it."""
    least, greatest, nulls = (_part(row, prefix) for prefix in (*_EXTREMES, "null_count."))
    return {"numRecords": row["num_records"], "minValues": least, "maxValues": greatest, "nullCount": nulls}


def _part(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The values of the columns with a prefix; a value that the log does not say is left out."""
    own = {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)}
    return {name: value for name, value in own.items() if value is not None}


def parted(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """Rows by partition, in the order given; nothing where there are no rows."""
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
    """The rows of a batch by partition; mostly it has one, and its rows are not copied."""
    if not batch.num_rows:
        return
    ends = [pc.min_max(batch[name]).as_py() for name in names]
    if all(end["min"] == end["max"] and not batch[name].null_count for name, end in zip(names, ends, strict=True)):
        yield tuple(end["min"] for end in ends), batch
        return
    for values in pa.table(batch.select(names)).group_by(list(names)).aggregate([]).to_pylist():
        same = [pc.equal(batch[name], pa.scalar(values[name], batch[name].type)) for name in names]
        yield tuple(values[name] for name in names), batch.filter(reduce(pc.and_, same))
