"""Reads JSON payloads and results into typed structs; what cannot be read is counted and null, never an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from operator import attrgetter
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import amounts, is_amount
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.text_amounts import with_texts
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
    structs = _together(texts, decoder)
    if structs is not None:
        return structs
    return [_alone(text, decoder, name, notes) for text, name in zip(texts.to_pylist(), names, strict=True)]


def _together(texts: pa.ChunkedArray, decoder: msgspec.json.Decoder[T]) -> list[T | None] | None:
    """All at once, several times as fast; None if one does not fit."""
    if texts.null_count:
        return None
    # A text with line feeds of its own is read alone.
    whole = texts.combine_chunks()
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(whole)], pa.int32()), whole), "\n")[0].as_buffer()
    try:
        structs: list[T | None] = list(decoder.decode_lines(joined))
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return structs if len(structs) == len(texts) else None


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


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an inner struct, for many columns of one: null where there is no inner struct.

    Attributes:
        of: gives the inner struct; the columns of one struct have the same function here.
        name: the member, or a path of members with dots; without one, whether there is an inner struct.
    """

    of: Callable[[Any], Any]
    name: str = ""

    def __call__(self, struct: Any) -> Any:
        """The value of one struct."""
        return self.values([self.of(struct)])[0]

    def values(self, inner: list[Any]) -> list[Any]:
        """The values of many inner structs."""
        if not self.name:
            return [one is not None for one in inner]
        get = attrgetter(self.name)
        if None in inner:
            return [None if one is None else get(one) for one in inner]
        return list(map(get, inner))


Values = Mapping[str, Callable[[Any], Any]]
Kinds = Mapping[str, pa.DataType]


def columns_of(
    rows: pa.Table, text: str, shape: Any, kinds: Kinds, values: Values, notes: NotUnderstood, *, choice: str = ""
) -> pa.Table:
    """Columns of the JSON of a column, beside the rows they come from; rows that cannot be read are counted and go.

    Args:
        rows: with the text column and template_name.
        text: the column of JSON.
        shape: the struct of its texts.
        kinds: the types of the columns, more of them if need be.
        values: for each column, its value in the struct. Amounts may be text there, which only an Arrow column reads.
        notes: where texts that do not fit are counted.
        choice: the column that names the choice, where the counts are to name it too.
    """
    types = {name: kinds[name] for name in values}
    texts = with_texts(shape)
    parts = [
        _at_once(part, text, texts, types, values) or _one_by_one(part, text, shape, types, values, notes, choice)
        for part in blocks(rows)
    ]
    kept = rows.drop_columns([text])
    empty = pa.schema([*kept.schema, *(pa.field(name, kind) for name, kind in types.items())]).empty_table()
    return pa.concat_tables([empty, *parts])


def _at_once(rows: pa.Table, text: str, shape: Any, types: Kinds, values: Values) -> pa.Table | None:
    """A block with its columns; None if any text or value does not fit."""
    structs = _together(rows[text], msgspec.json.Decoder(shape, strict=False))
    if structs is None:
        return None
    inner: dict[Any, list[Any]] = {}
    try:
        made = {name: _column_of(_each(value, structs, inner), types[name]) for name, value in values.items()}
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    return _beside(rows.drop_columns([text]), types, made)


def _each(value: Callable[[Any], Any], structs: list[Any], inner: dict[Any, list[Any]]) -> list[Any]:
    """The value of each struct; inner structs are looked up once for all of their members."""
    if not isinstance(value, Member):
        return list(map(value, structs))
    if value.of not in inner:
        inner[value.of] = list(map(value.of, structs))
    return value.values(inner[value.of])


def _column_of(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column whose amounts are text; Arrow refuses what is not an amount, and never rounds."""
    if pa.types.is_decimal(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_list(kind) and pa.types.is_decimal(kind.value_type):
        return pa.array(values, pa.list_(pa.string())).cast(kind)
    return pa.array(values, kind)


def _one_by_one(
    rows: pa.Table, text: str, shape: Any, types: Kinds, values: Values, notes: NotUnderstood, choice: str
) -> pa.Table:
    """A block likewise, text by text, which takes several times as long."""
    names = labels(rows, choice)
    structs = parsed(rows[text], shape, names, notes)
    cells = [None if struct is None else [value(struct) for value in values.values()] for struct in structs]
    good = [row is not None and all(map(fits, row)) for row in cells]
    for name, row, fit in zip(names, cells, good, strict=True):
        if row is not None and not fit:
            notes[name] += 1
    chosen = [row for row, fit in zip(cells, good, strict=True) if row is not None and fit]
    made = {name: column([row[place] for row in chosen], types[name]) for place, name in enumerate(values)}
    return _beside(rows.drop_columns([text]).filter(pa.array(good, pa.bool_())), types, made)


def kinds_of(table: Table) -> dict[str, pa.DataType]:
    """The types of a table's columns."""
    return {field.name: field.type for field in table.schema}


def labels(rows: pa.Table, choice: str = "choice") -> list[str]:
    """What the counts call each row: its template, and its choice if a column has it."""
    names: list[str] = rows["template_name"].to_pylist()
    if not choice:
        return names
    return [f"{name}/{done}" for name, done in zip(names, rows[choice].to_pylist(), strict=True)]


def _beside(rows: pa.Table, kinds: Kinds, made: Mapping[str, pa.Array]) -> pa.Table:
    for name, values in made.items():
        rows = rows.append_column(pa.field(name, kinds[name]), values)
    return rows


def fits(value: Any) -> bool:
    """Whether a column can hold a value: an amount of 28 and 10 digits, a whole number of 64 bits, anything else."""
    if isinstance(value, Decimal):
        return is_amount(value)
    if isinstance(value, list):
        return all(map(fits, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values as an Arrow column of a kind; decimals and times as they have to be for it."""
    if pa.types.is_decimal(kind):
        return amounts(values)
    if pa.types.is_list(kind) and pa.types.is_decimal(kind.value_type):
        flat = amounts(value for listed in values for value in listed or ())
        ends = accumulate((len(listed or ()) for listed in values), initial=0)
        missing = pa.array([listed is None for listed in values], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat, mask=missing)
    return pa.array(values, kind)
