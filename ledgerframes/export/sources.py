"""The sources of an export's rows: anything that returns Arrow batches, opened when its turn comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeAlias

import pyarrow as pa

from ledgerframes.decoding.personal import LEFT_OUT, is_personal, is_text, json_columns, strip_batch
from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of, proof_of
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.table import Table

Batches: TypeAlias = "pa.Table | pa.RecordBatchReader | Iterable[pa.RecordBatch] | Any"  # what Arrow can read
Source: TypeAlias = "Batches | Callable[[], Batches]"


#: The columns in which a table of the catalogue may hold personal data by its nature.
_TELLING: Final = frozenset({"payload", "exercise_result", "raw"})


@dataclass(frozen=True)
class Opened:
    """A table's rows, about to be read once.

    Attributes:
        name: the table.
        schema: the batches' schema, with the declared texts of a table.
        batches: the rows.
        origin: what its source says of where the rows come from, and whether personal data was left out.
        lost: counts the rows from which personal data was removed.
        rounded: whether it has floats, as pandas frames have for amounts by default.
    """

    name: str
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    origin: dict[str, Any]
    lost: Counter[str] = field(default_factory=Counter)
    rounded: bool = False


def open_source(name: str, source: Source, *, personal: bool | None = True) -> Opened:
    """Open a table's source.

    Args:
        name: the table; the columns of a declared one get their texts.
        source: an Arrow table, dataset, reader or batches, anything with `__arrow_c_stream__` (a DataFrame of
            pandas or polars, say), or a callable that returns one of these.
        personal: whether personal data is kept; None asks the source, which records whether it was loaded to be kept.

    Raises:
        InputError: the source returns no Arrow batches, none at all and no schema, or batches that differ.
    """
    opened = source() if callable(source) and not hasattr(source, "__arrow_c_stream__") else source
    schema, batches = _read(name, opened)
    attrs, checked, whole = attrs_of(opened), _checked(name, schema, batches), _described(name, schema)
    origin = _origin(name, opened, whole)
    rounded = attrs.get("decimals") == "float" and any(map(pa.types.is_floating, schema.types))
    keep = attrs.get("personal") is True if personal is None else personal
    if keep or len(set(whole.names)) < len(whole.names):  # equal names are refused by whoever names the file's columns
        return Opened(name, whole, checked, origin, rounded=rounded)
    columns = [column.name for column in whole if not _is_personal_column(name, column.name)]
    rest = pa.schema([whole.field(column) for column in columns], metadata=whole.metadata)
    if name not in CATALOGUE or _TELLING.intersection(whole.names):
        origin["left_out"] = [LEFT_OUT]
    lost: Counter[str] = Counter()
    return Opened(name, rest, _without(name, checked, columns, lost), origin, lost, rounded)


def _is_personal_column(table: str, column: str) -> bool:
    """Whether a whole column is personal data: a contact point, or a license's blob, in which it can be read."""
    return is_personal(column) or (table == "licenses" and column == "created_event_blob")


def _without(
    name: str, batches: Iterator[pa.RecordBatch], columns: list[str], lost: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """The batches without personal data: in the columns declared as JSON, or in every text of another table."""
    declared = CATALOGUE.get(name)
    for batch in batches:
        selected = batch.select(columns)
        texts = [column.name for column in selected.schema if is_text(column.type)]
        known = texts if declared is None else [column for column in json_columns(declared) if column in texts]
        stripped, count = strip_batch(selected, known)
        lost[name] += count
        yield stripped


def _read(name: str, opened: Batches) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(opened, pa.RecordBatch):
        return opened.schema, iter([opened])
    schema = getattr(opened, "schema", None)
    if isinstance(schema, pa.Schema):
        return schema, iter(opened.to_batches() if hasattr(opened, "to_batches") else opened)
    if hasattr(opened, "__arrow_c_stream__"):
        try:
            reader = pa.RecordBatchReader.from_stream(opened)
        except pa.ArrowException as error:
            raise InputError(f"{name!r} cannot be exported: {error}; give every column values of one type") from error
        typed = _typed(name, reader.schema)
        return typed, (batch.cast(typed) for batch in reader)
    if not isinstance(opened, Iterable):
        own = ", as its .contracts are" if hasattr(opened, "contracts") else ""
        raise InputError(
            f"the source of {name!r} is {type(opened).__name__}; give Arrow batches{own}, or a callable for them"
        )
    batches = iter(opened)
    first = next(batches, None)
    if first is None:
        if name not in CATALOGUE:
            raise InputError(f"the source of {name!r} returns no batch, so its columns are unknown; give an empty one")
        return CATALOGUE[name].schema, iter(())
    if not isinstance(first, pa.RecordBatch):
        raise InputError(f"the source of {name!r} returns {type(first).__name__}; give Arrow record batches")
    return first.schema, chain([first], batches)


def _typed(name: str, schema: pa.Schema) -> pa.Schema:
    """The types of a frame that do not depend on its rows.

    Arrow makes `Decimal` objects as wide as the longest of them, and a column of nothing but None has no type. An
    amount is an amount; a column without type, or of nothing but empty lists, is as the table declares it.
    """
    declared = _declared(name)
    types = {} if declared is None else {column.name: column.type for column in declared.schema}
    amount = AMOUNT.arrow
    for place, column in enumerate(schema):
        if column.name in types and column.type in (pa.null(), pa.list_(pa.null())):
            schema = schema.set(place, column.with_type(types[column.name]))
        elif pa.types.is_decimal(kind := column.type):
            digits = kind.precision - kind.scale
            if kind.scale <= amount.scale and digits <= amount.precision - amount.scale:
                schema = schema.set(place, column.with_type(amount))
    return schema


def _declared(name: str) -> Table | None:
    """The declaration of a table, loaded or computed."""
    return CATALOGUE.get(name) or COMPUTED.get(name)


def _described(name: str, schema: pa.Schema) -> pa.Schema:
    """The schema with the declared texts where it lacks its own, and without pandas' notes on its types."""
    schema = schema.with_metadata({key: text for key, text in (schema.metadata or {}).items() if key != b"pandas"})
    declared = _declared(name)
    if declared is None:
        return schema
    texts = {column.name: column.metadata for column in declared.schema}
    columns = [one.with_metadata({**texts.get(one.name, {}), **(one.metadata or {})} or None) for one in schema]
    return pa.schema(columns, metadata={**declared.schema.metadata, **(schema.metadata or {})})


def _origin(name: str, opened: Any, schema: pa.Schema) -> dict[str, Any]:
    """The provenance that pandas holds as the attributes of a frame, and Arrow in the schema."""
    if getattr(opened, "attrs", None):
        return {**proof_of(opened), "table": name, "rows": len(opened)}
    return attrs_of(schema.empty_table())


def _checked(name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.schema.names != schema.names or batch.schema.types != schema.types:
            raise InputError(
                f"a batch of {name!r} has the columns {batch.schema.to_string(show_field_metadata=False)!r}, but the"
                " first ones were others; cast them all to one schema"
            )
        yield batch
