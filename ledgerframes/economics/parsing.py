"""Reads JSON payloads and results into typed structs; what cannot be read is counted and null, never an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.amounts import amounts, is_amount
from ledgerframes.economics.not_understood import NotUnderstood
from ledgerframes.tables.table import Table

T = TypeVar("T")
#: In blocks, because the structs of a whole history would be in memory beside its text.
_ROWS: Final = 50_000
_values: Final = msgspec.json.Decoder(float_hook=Decimal)
_UNKNOWN: Final = re.compile(r"unknown field `([^`]*)`")


def parsed(texts: pa.ChunkedArray, shape: type[T], names: Sequence[str], notes: NotUnderstood) -> list[T | None]:
    """Read JSON texts, one struct per text.

    Args:
        texts: JSON; null is null.
        shape: the struct; one that forbids unknown fields has them counted, and is read without them.
        names: what each text is of, for the counts.
        notes: where texts that do not fit the struct are counted.
    """
    decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(shape, strict=False)
    found = _together(texts, decoder)
    if found is not None:
        return found
    return [_alone(text, decoder, name, notes) for text, name in zip(texts.to_pylist(), names, strict=True)]


def _together(texts: pa.ChunkedArray, decoder: msgspec.json.Decoder[T]) -> list[T | None] | None:
    """All at once, several times as fast; None if one does not fit."""
    if texts.null_count:
        return None
    # A text with line feeds of its own is read alone.
    whole = texts.combine_chunks()
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(whole)], pa.int32()), whole), "\n")[0].as_buffer()
    try:
        found: list[T | None] = list(decoder.decode_lines(joined))
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return found if len(found) == len(texts) else None


def _alone(text: str | None, decoder: msgspec.json.Decoder[T], name: str, notes: NotUnderstood) -> T | None:
    if text is None:
        return None
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        member = _UNKNOWN.search(str(error))
        notes[f"{name}: {member[1]}" if member else name] += 1
        return _without(text, member[1], decoder, name, notes) if member else None
    except msgspec.DecodeError:
        notes[name] += 1
        return None


def _without(text: str, member: str, decoder: msgspec.json.Decoder[T], name: str, notes: NotUnderstood) -> T | None:
    """The struct without an unknown member, wherever in the text that is."""
    value = _values.decode(text)
    _take_out(value, member)
    return _alone(msgspec.json.encode(value).decode(), decoder, name, notes)


def _take_out(value: Any, member: str) -> None:
    if isinstance(value, dict):
        value.pop(member, None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _take_out(inner, member)


def blocks(rows: pa.Table) -> Iterator[pa.Table]:
    """A table in blocks of rows."""
    for start in range(0, rows.num_rows, _ROWS):
        yield rows.slice(start, _ROWS)


def columns_of(
    rows: pa.Table,
    text: str,
    shape: type[T],
    table: Table,
    values: dict[str, Callable[[T], Any]],
    notes: NotUnderstood,
) -> pa.Table:
    """Columns of the JSON of a column, beside the rows they come from; rows that cannot be read are counted and go.

    Args:
        rows: with the text column and template_name.
        text: the column of JSON.
        shape: the struct of its texts.
        table: the declaration that has the types of the columns.
        values: for each column, its value in the struct.
        notes: where texts that do not fit are counted.
    """
    kinds = {name: table.schema.field(name).type for name in values}
    parts = [_block(part, text, shape, kinds, values, notes) for part in blocks(rows)]
    kept = rows.drop_columns([text])
    empty = pa.schema([*kept.schema, *(pa.field(name, kind) for name, kind in kinds.items())]).empty_table()
    return pa.concat_tables([empty, *parts])


def _block(
    rows: pa.Table,
    text: str,
    shape: type[T],
    kinds: dict[str, pa.DataType],
    values: dict[str, Callable[[T], Any]],
    notes: NotUnderstood,
) -> pa.Table:
    names = rows["template_name"].to_pylist()
    found = parsed(rows[text], shape, names, notes)
    kept = rows.drop_columns([text])
    if None not in found:
        made = _made([struct for struct in found if struct is not None], kinds, values)
        if made is not None:
            return _beside(kept, kinds, made)
    # Only now value by value, which takes several times as long.
    good = [struct is not None and all(fits(value(struct)) for value in values.values()) for struct in found]
    for name, struct, fit in zip(names, found, good, strict=True):
        if struct is not None and not fit:
            notes[name] += 1
    chosen = [struct for struct, fit in zip(found, good, strict=True) if struct is not None and fit]
    made = {name: column([value(struct) for struct in chosen], kinds[name]) for name, value in values.items()}
    return _beside(kept.filter(pa.array(good, pa.bool_())), kinds, made)


def _made(
    structs: list[T], kinds: dict[str, pa.DataType], values: dict[str, Callable[[T], Any]]
) -> dict[str, pa.Array] | None:
    """The columns of some structs; None if a value does not fit its column."""
    made = {}
    for name, value in values.items():
        listed = [value(struct) for struct in structs]
        try:
            made[name] = pa.array(listed, kinds[name])
        except (pa.ArrowInvalid, OverflowError):
            return None
        # Arrow takes a NaN for null.
        if pa.types.is_decimal(kinds[name]) and made[name].null_count != listed.count(None):
            return None
    return made


def _beside(rows: pa.Table, kinds: dict[str, pa.DataType], made: dict[str, pa.Array]) -> pa.Table:
    for name, values in made.items():
        rows = rows.append_column(pa.field(name, kinds[name]), values)
    return rows


def fits(value: Any) -> bool:
    """Whether a column can hold a value: an amount of 28 and 10 digits, a whole number of 64 bits, anything else."""
    if isinstance(value, Decimal):
        return is_amount(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values as an Arrow column of a kind; decimals and times as they have to be for it."""
    if pa.types.is_decimal(kind):
        return amounts(values)
    return pa.array(values, kind)
