"""Decodes the items of any table except the history's; every column declares where its value is in the item.

Values are read by kind, as leniently as real servers vary: whole numbers also as text, amounts as text or number,
times with 0 to 9 digits. Members without a column are kept in `extra`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation
from functools import cache
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding import columns as col
from ledgerframes.decoding.lenient import Differences, Origin, object_of, pointer_to, shorten
from ledgerframes.errors import DecodeError
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TEXTS, TIME
from ledgerframes.tables.table import Column, Table
from ledgerframes.timestamps import EARLIEST, LATEST, parse_timestamp

# 28 digits before the point and 10 after it need 38; the rest is for exponents such as `0E-10`.
EXACT: Final = Context(prec=80)
_WHOLE_DIGITS: Final = 28
_STEP: Final = Decimal("1E-10")
_NULL: Final = b"null"
_WHOLE: Final = re.compile(r"[+-]?\d{1,19}", re.ASCII)
# `0E-10` and `-1.43E-8` occur on real networks.
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d{1,4})?", re.ASCII)
_members = msgspec.json.Decoder(dict[str, Raw])
_string = msgspec.json.Decoder(str)
_strings = msgspec.json.Decoder(list[str])
_boolean = msgspec.json.Decoder(bool)


def read_records(
    table: Table,
    items: Sequence[bytes | Raw],
    endpoint: str,
    *,
    supplied: Mapping[str, Sequence[Any]] | None = None,
    left_out: Sequence[str] = (),
    named: Sequence[str] | None = None,
) -> pa.RecordBatch:
    """Turn raw JSON items into a table's columns.

    Args:
        table: the declaration; columns whose source is a JSON pointer are read from the items.
        items: one JSON object per row.
        endpoint: method and path, for messages.
        supplied: values of the other columns.
        left_out: pointers to leave out of `extra`.
        named: the name of each item in messages; its position by default.

    Raises:
        DecodeError: a required member is missing or null, has the wrong type, is not a time, or is an amount that does
            not fit 28 digits before and 10 after the point; it names endpoint, table, column and item.
    """
    values: dict[str, list[Any]] = {column.name: [] for column in table.columns}
    read = tuple(column for column in table.columns if column.source.startswith("/"))
    tree = _tree_of(_sources(read))
    for position, item in enumerate(items):
        name = f"item {position}" if named is None else named[position]
        record = _Record(read, tree, item, Origin(endpoint, name, table.name), frozenset(left_out))
        for column_name, value in record.values().items():
            values[column_name].append(value)
    for column_name, column in (supplied or {}).items():
        values[column_name] = list(column)
    if "template_name" in values:
        values["template_name"] = col.templates(values["template_id"])[1].to_pylist()
    try:
        arrays = {column.name: pa.array(values[column.name], column.kind.arrow) for column in table.columns}
    except (OverflowError, pa.ArrowException) as error:
        raise DecodeError(
            f"{endpoint}: a value does not fit its column of {table.name}: {error}", endpoint=endpoint, table=table.name
        ) from error
    return col.batch(table, arrays, endpoint)


class _Record:
    """One item, split by the pointers of the columns to read."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        tree: Mapping[str, Any],
        item: bytes | Raw,
        origin: Origin,
        left_out: frozenset[str],
    ) -> None:
        self._columns = columns
        self._tree = tree
        self._origin = origin
        self._left_out = left_out
        self._differences = Differences()
        self._objects: dict[str, dict[str, Raw] | None] = {"": object_of(item, origin, "item")}

    def values(self) -> dict[str, Any]:
        """The values of the columns in the item, and `extra`."""
        by_column = {column.name: self._value(column) for column in self._columns}
        self._note_the_rest("", self._tree)
        by_column["extra"] = self._differences.text()
        return by_column

    def _value(self, column: Column) -> Any:
        prefix, _, name = column.source.rpartition("/")
        members = self._object(prefix)
        raw = None if members is None else members.get(name)
        if column.absent and (raw is None or bytes(raw) == _NULL):
            raw = Raw(column.absent.encode())
        if raw is None or bytes(raw) == _NULL:
            if not column.nullable:
                why = "the required member is missing" if raw is None else "null where a value is required"
                raise self._origin.error(column.name, f"{column.source}: {why}")
            if raw is not None and column.kind is JSON:
                return "null"
            return None
        try:
            return self._read(column, raw)
        except (msgspec.DecodeError, ValueError) as error:
            raise self._origin.error(column.name, f"{column.source}: {error}; got {shorten(raw)}") from error

    def _read(self, column: Column, raw: Raw) -> Any:
        if column.kind is JSON:
            return bytes(raw).decode()
        if column.kind is TIME:
            return self._time(column, raw)
        value = _READERS[column.kind.name](raw)
        return None if value == "" and column.spelling == "empty is unset" else value

    def _time(self, column: Column, raw: Raw) -> int | None:
        text = bytes(raw).decode().strip('"')
        # Name entries expire at epoch milliseconds, sent as text; ISO times are accepted too.
        if column.spelling == "epoch milliseconds" and _WHOLE.fullmatch(text):
            micros = int(text) * 1000
            if not EARLIEST <= micros <= LATEST:
                raise ValueError("the time lies outside the years 1 to 9999")
            return micros
        text = _string.decode(raw)
        if not text and column.nullable:
            return None
        micros, finer = parse_timestamp(text)
        # The column has microseconds, and servers send up to nine digits.
        if finer:
            self._differences.values[column.source] = raw
        return micros

    def _object(self, pointer: str) -> dict[str, Raw] | None:
        """The members of an object inside the item; None if it is missing or null."""
        if pointer not in self._objects:
            prefix, _, name = pointer.rpartition("/")
            above = self._object(prefix)
            raw = None if above is None else above.get(name)
            try:
                self._objects[pointer] = None if raw is None or bytes(raw) == _NULL else _members.decode(raw)
            except msgspec.DecodeError as error:
                raise self._origin.error(
                    name, f"{pointer}: expected a JSON object, got {shorten(raw or b'')}"
                ) from error
        return self._objects[pointer]

    def _note_the_rest(self, prefix: str, known: Mapping[str, Any]) -> None:
        """Keep the members without a column."""
        for name, raw in (self._object(prefix) or {}).items():
            below = known.get(name)
            if below is not None and not below and not self._left_out:
                continue
            pointer = pointer_to(prefix, name)
            if pointer in self._left_out:
                continue
            if below is None:
                self._differences.values[pointer] = raw
            elif below:
                self._note_the_rest(pointer, below)


def _sources(columns: Sequence[Column]) -> tuple[str, ...]:
    """The pointers of columns, with those of whole members last, so that they win."""
    return tuple(column.source for column in sorted(columns, key=lambda column: column.kind is JSON))


@cache
def _tree_of(sources: tuple[str, ...]) -> dict[str, Any]:
    """The members with columns, nested; an empty dictionary is a whole member."""
    tree: dict[str, Any] = {}
    for source in sources:
        *steps, name = source.split("/")[1:]
        origin = tree
        for step in steps:
            origin = origin.setdefault(step, {})
        origin[name] = {}
    return tree


def _whole(raw: Raw) -> int:
    text = bytes(raw).decode()
    text = _string.decode(raw) if text.startswith('"') else text
    # Whole numbers inside payloads are text (`"81324"`), those next to them JSON numbers.
    if not _WHOLE.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise ValueError("not a whole number of 64 bits")
    return int(text)


def read_amount(text: str) -> Decimal:
    """An exact amount.

    Raises:
        ValueError: it is not a decimal number, or has more than 28 digits before or 10 after the point.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a decimal number")
    try:
        value = Decimal(text)  # exact at any length; a context would round it
        fitted = value.quantize(_STEP, context=EXACT)
    except InvalidOperation as error:
        raise ValueError("more digits than 28 before and 10 after the point") from error
    if fitted != value or (value and value.adjusted() >= _WHOLE_DIGITS):
        raise ValueError("more digits than 28 before and 10 after the point; amounts are never rounded")
    return fitted


def _amount(raw: Raw) -> Decimal:
    text = bytes(raw).decode()
    return read_amount(_string.decode(raw) if text.startswith('"') else text)


_READERS: Final[dict[str, Callable[[Raw], Any]]] = {
    TEXT.name: _string.decode,
    TEXTS.name: _strings.decode,
    BOOL.name: _boolean.decode,
    INT64.name: _whole,
    AMOUNT.name: _amount,
}
