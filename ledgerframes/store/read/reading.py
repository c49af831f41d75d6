"""Reads a store: which rows a caller sees, as an Arrow dataset, SQL or Dask; never more than all tables cover."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.paging.window import Window
from ledgerframes.store.coverage import wanted_in
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.intervals import BEGINNING, CLOSED, Interval, intersection, merged, missing
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import EARLIEST, LATEST, month_of

if TYPE_CHECKING:
    import pyarrow.dataset as ds

Where = Any  # a pyarrow Expression, a mapping of column to value or values, or a list of (column, operator, value)

_TIME: Final = pa.timestamp("us", "UTC")
_ORDER: Final[tuple[str, ...]] = ("loaded_at", "migration_id", "record_time", "update_id", "node_index")
_PIECE: Final = 500_000


def visible(
    covered: Sequence[Interval], window: Window, *, ended: Collection[int], allow_partial: bool, name: str
) -> tuple[tuple[Interval, ...], bool]:
    """Which stretches a read of a window shows, and whether they are all that was asked for.

    Raises:
        PartialResultError: something that was asked for is not covered, and the caller did not allow that.
    """
    holes = _holes(covered, window, ended)
    if holes and not allow_partial:
        raise PartialResultError(
            f"{name}: the store does not cover {holes[0]}"
            f"{f' and {len(holes) - 1} more stretches' if len(holes) > 1 else ''}. Sync that range first, ask for less,"
            " or pass allow_partial=True to get what there is"
        )
    ids = {one.migration_id for one in covered}
    asked = [one for migration_id in sorted(ids) if (one := wanted_in(window, migration_id)) is not None]
    return intersection(covered, asked), not holes


def _holes(covered: Sequence[Interval], window: Window, ended: Collection[int]) -> tuple[Interval, ...]:
    """What the window names and the store lacks; an open side of a window names nothing beyond what is there.

    Nor does a migration that another one followed have a hole after its end, once it was read to there.
    """
    found: list[Interval] = []
    ids = sorted({one.migration_id for one in covered})
    for migration_id in ids:
        asked = wanted_in(window, migration_id)
        if asked is None:
            continue
        inside = [one for one in covered if one.migration_id == migration_id]
        lo = max(asked.lo, inside[0].lo) if asked.lo == BEGINNING and migration_id == ids[0] else asked.lo
        at = asked.at
        if migration_id in ended if migration_id < ids[-1] else at == CLOSED:
            at = max(min(at, inside[-1].at), lo)  # up to where the store has got
        if lo < at:
            found += missing(Interval(migration_id, lo, at), covered)
    if not ids and (window.start or window.end or window.since is not None or window.until is not None):
        found.append(Interval(0, BEGINNING, CLOSED))
    for place in (window.start, window.end):
        if ids and place is not None and place.migration_id not in ids and place.migration_id > ids[-1]:
            found.append(Interval(place.migration_id, BEGINNING, CLOSED))
    return merged(found)


def rows_of(intervals: Sequence[Interval]) -> pc.Expression:
    """The rows that lie in some stretches, said so that partitions and files outside need not be read."""
    if not intervals:
        return pc.scalar(False)  # noqa: FBT003 - a value, not a switch
    return reduce(or_, [_rows(one) for one in intervals])


def _rows(one: Interval) -> pc.Expression:
    rows = pc.field("migration_id") == one.migration_id
    if one.lo >= EARLIEST:
        rows &= (pc.field("record_month") >= month_of(one.lo)) & (pc.field("record_time") > pa.scalar(one.lo, _TIME))
    if one.at < LATEST:
        rows &= (pc.field("record_month") <= month_of(one.at)) & (pc.field("record_time") <= pa.scalar(one.at, _TIME))
    return rows


def conditions(where: Where, table: Table) -> pc.Expression | None:
    """Read a caller's `where=`.

    Raises:
        InputError: it names a column that is not there, or is none of the forms.
    """
    if where is None or isinstance(where, pc.Expression):
        return where
    if isinstance(where, Mapping):
        table.pick(list(where))
        found = [_is(name, value) for name, value in where.items()]
        return reduce(lambda left, right: left & right, found) if found else None
    if isinstance(where, Sequence) and not isinstance(where, str):
        import pyarrow.parquet as pq

        try:
            flat = [one for group in where for one in ([group] if isinstance(group, tuple) else group)]
            table.pick(sorted({one[0] for one in flat}))
            return pq.filters_to_expression(list(where))
        except (TypeError, ValueError, IndexError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"where={where!r} is no list of (column, operator, value): {error}") from error
    raise InputError(
        f"where={where!r}: give {{column: value}}, [(column, '>', value)] or a pyarrow expression; store.sql takes SQL"
    )


def _is(name: str, value: Any) -> pc.Expression:
    if isinstance(value, list | tuple | set | frozenset):
        return pc.field(name).isin(list(value))
    return pc.field(name).is_null() if value is None else pc.field(name) == value


def batches_of(table: DeltaStoreTable, data: ds.Dataset, rows: pc.Expression | None) -> pa.RecordBatchReader:
    """All rows in batches, folder by folder: migrations and months in order, the rows of a month as stored.

    Reading raises a StoreError where a file is damaged.
    """
    schema = data.schema

    def batches() -> Iterator[pa.RecordBatch]:
        with damage_named([table]):
            for fragment in sorted(data.get_fragments(filter=rows), key=_folder):
                yield from fragment.scanner(schema=schema, filter=rows, batch_readahead=2).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _folder(fragment: ds.Fragment) -> tuple[int, str]:
    import pyarrow.dataset as ds

    keys = ds.get_partition_keys(fragment.partition_expression)
    return keys.get("migration_id", 0), keys.get("record_month", "")


def load_table(data: ds.Dataset, names: Sequence[str], rows: pc.Expression | None, table: Table) -> pa.Table:
    """Read columns and rows, in the order of the history or of loading, in the declared types."""
    order: list[str] = [name for name in _ORDER if name in table.names] or [*table.key]
    found = data.to_table(columns=list(dict.fromkeys([*names, *order])), filter=rows)
    found = _sorted(found, order).select(list(names))
    schema = pa.schema([table.schema.field(name) for name in names], metadata=table.schema.metadata)
    return pa.Table.from_arrays([found[name].cast(schema.field(name).type) for name in names], schema=schema)


def _sorted(found: pa.Table, order: Sequence[str]) -> pa.Table:
    if not order:
        return found
    index = pc.sort_indices(found, sort_keys=[(name, "ascending") for name in order])
    if pc.all(pc.equal(index, pa.array(range(len(index)), pa.uint64())), min_count=0).as_py():
        return found
    wide = [
        field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field for field in found.schema
    ]  # a text column of over 2 GB cannot be put in order otherwise
    spread = found.cast(pa.schema(wide))
    pieces = [spread.take(index[start : start + _PIECE]) for start in range(0, len(index), _PIECE)]
    return pa.concat_tables(pieces).cast(found.schema)
