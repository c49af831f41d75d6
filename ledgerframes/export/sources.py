"""Where an export's rows come from: anything that gives Arrow batches, opened when its turn comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa

from ledgerframes.errors import InputError
from ledgerframes.tables.catalogue import CATALOGUE

Batches: TypeAlias = "pa.Table | pa.RecordBatchReader | Iterable[pa.RecordBatch] | Any"  # what Arrow can read
Source: TypeAlias = "Batches | Callable[[], Batches]"


@dataclass(frozen=True)
class Opened:
    """A table's rows, about to be read once.

    Attributes:
        name: the table.
        schema: the batches' schema, with the declared texts of a table of the catalogue.
        batches: the rows.
    """

    name: str
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def open_source(name: str, source: Source) -> Opened:
    """Open a table's source.

    Args:
        name: the table; the columns of a table of the catalogue get their declared texts.
        source: an Arrow table, dataset, reader or batches, anything with `__arrow_c_stream__` (a DataFrame of
            pandas or polars, say), or a callable that gives one of these.

    Raises:
        InputError: the source gives no Arrow batches, none at all without saying their schema, or batches that differ.
    """
    given = source() if callable(source) and not hasattr(source, "__arrow_c_stream__") else source
    schema, batches = _read(name, given)
    return Opened(name, _described(name, schema), _checked(name, schema, batches))


def _read(name: str, given: Batches) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(given, pa.RecordBatch):
        return given.schema, iter([given])
    schema = getattr(given, "schema", None)
    if isinstance(schema, pa.Schema):
        return schema, iter(given.to_batches() if hasattr(given, "to_batches") else given)
    if hasattr(given, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(given)
        return reader.schema, iter(reader)
    if not isinstance(given, Iterable):
        raise InputError(
            f"the source of {name!r} is {type(given).__name__}; give Arrow batches, or a callable for them"
        )
    batches = iter(given)
    first = next(batches, None)
    if first is None:
        if name not in CATALOGUE:
            raise InputError(f"the source of {name!r} gives no batch, so its columns are unknown; give an empty one")
        return CATALOGUE[name].schema, iter(())
    if not isinstance(first, pa.RecordBatch):
        raise InputError(f"the source of {name!r} gives {type(first).__name__}; give Arrow record batches")
    return first.schema, chain([first], batches)


def _described(name: str, schema: pa.Schema) -> pa.Schema:
    """The schema with the catalogue's texts where it has none of its own, and without pandas' notes on its types."""
    schema = schema.with_metadata({key: text for key, text in (schema.metadata or {}).items() if key != b"pandas"})
    declared = CATALOGUE.get(name)
    if declared is None:
        return schema
    texts = {field.name: field.metadata for field in declared.schema}
    fields = [field.with_metadata({**texts.get(field.name, {}), **(field.metadata or {})} or None) for field in schema]
    return pa.schema(fields, metadata={**declared.schema.metadata, **(schema.metadata or {})})


def _checked(name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.schema.names != schema.names or batch.schema.types != schema.types:
            raise InputError(
                f"a batch of {name!r} has the columns {batch.schema.to_string(show_field_metadata=False)!r}, but the"
                " first ones were others; cast them all to one schema"
            )
        yield batch
