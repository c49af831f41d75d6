"""The form of a table in an export: safe names, columns as declared or flat; every writer calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.amounts import nearest_double
from ledgerframes.decoding.personal import is_text
from ledgerframes.errors import InputError
from ledgerframes.export.texts import amount_text, is_texts, json_text, plain_text, time_text

Times = Literal["us", "ms"]
EXACT: Final = "_exact"
TIME_TEXT: Final = "_text"
SECONDS: Final = "_seconds"
_PLAIN: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date, pa.types.is_null)
_JSON: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
Make = Callable[[pa.Array], pa.Array]
_LONGEST: Final = 63
_ENDING: Final = 11  # room for "_seconds" and a number
_DOT: Final = re.compile(r"(?<!\\)\.")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)
_SAFE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.ASCII | re.IGNORECASE)
SHEET_NAME: Final = 25  # Excel's limit is 31; a continued sheet ends in " (99)"
RESERVED_SHEETS: Final = ("history", "about")  # the first is Excel's own, the second ours


@dataclass(frozen=True)
class Output:
    """One column of the export: its field, the column it is made from, and how.

    Attributes:
        field: name, type and texts.
        source: name of the column it is made from.
        make: the conversion.
        foreign: whether the text was written by somebody on the ledger, so that it may look like a formula.
        amount: whether it is an amount as a number, which has up to ten digits after the point.
    """

    field: pa.Field
    source: str
    make: Make
    foreign: bool = False
    amount: bool = False


@dataclass(frozen=True)
class Shape:
    """The columns of a table in an export, in order."""

    outputs: tuple[Output, ...]

    @property
    def schema(self) -> pa.Schema:
        """The export's Arrow schema, without the table's own metadata."""
        return pa.schema([output.field for output in self.outputs])

    @property
    def foreign(self) -> frozenset[str]:
        """Names of the text columns whose cells may look like formulas."""
        return frozenset(output.field.name for output in self.outputs if output.foreign)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch in this shape."""
        arrays = [output.make(batch.column(output.source)) for output in self.outputs]
        return pa.record_batch(arrays, schema=self.schema)


def shape_of(
    table: str,
    schema: pa.Schema,
    *,
    flat: bool,
    times: Times = "us",
    twice: bool = False,
) -> Shape:
    """Decide the columns of a table's export.

    Args:
        table: its name, for messages.
        schema: the schema of the source.
        flat: no nested columns, amounts as double and as text, times without zone in UTC.
        times: "ms" takes microseconds off, toward the past.
        twice: times also as text, for programs whose own times are coarser.

    Raises:
        InputError: a column's name or type cannot be exported.
    """
    safe = safe_columns(schema.names)
    outputs: list[Output] = []
    for field in schema:
        own = field if field.name == safe[field.name] else _noted(field, f"member {field.name}")
        made = _outputs(own.with_name(safe[field.name]), field.name, flat=flat, times=times, twice=twice)
        if not made:
            raise InputError(
                f"column {safe[field.name]!r} of {table!r} is of type {field.type}, which an export cannot hold;"
                " leave it out, or turn it into text, numbers or times first"
            )
        outputs += made
    _check_names([output.field.name for output in outputs], f"columns of {table!r}")
    return Shape(tuple(outputs))


def _outputs(field: pa.Field, source: str, *, flat: bool, times: Times, twice: bool) -> list[Output]:
    """The columns that one is exported as; none if its type cannot be."""
    kind = field.type

    def output(
        kind: pa.DataType, make: Make | None = None, *, note: str = "", ending: str = "", **marks: bool
    ) -> Output:
        own = _noted(field, note).with_name(field.name + ending).with_type(kind)
        return Output(own, source, make or (lambda column: column.cast(kind)), **marks)

    if pa.types.is_timestamp(kind):
        zone = kind.tz and "UTC"
        unit = "ms" if times == "ms" and kind.unit != "s" else kind.unit
        shown = pa.timestamp(unit, None if flat else zone)
        floor = partial(_floored, to=pa.timestamp(unit, zone))
        moment = output(shown, lambda column: floor(column).cast(shown), note="UTC" if flat and zone else "")
        text = output(pa.string(), lambda column: time_text(floor(column)), note="exact", ending=TIME_TEXT)
        return [moment, text] if twice else [moment]
    if pa.types.is_duration(kind):
        # few programs know durations, and Parquet itself has none
        return [output(pa.float64(), _seconds, note="in seconds", ending=SECONDS)]
    if pa.types.is_decimal(kind) and flat:
        number = output(pa.float64(), nearest_double, note="rounded to the nearest double", amount=True)
        return [number, output(pa.string(), amount_text, note="exact decimal as text", ending=EXACT)]
    if is_text(kind):
        return [output(pa.string(), plain_text, foreign=True)]
    if is_texts(kind):
        return [output(pa.string(), json_text, note="a JSON array") if flat else output(pa.list_(pa.string()))]
    if _is_record(kind):
        return [output(pa.string(), json_text, note="JSON")]
    plain = pa.types.is_decimal(kind) or any(is_it(kind) for is_it in _PLAIN)
    return [output(kind)] if plain else []


def _is_record(kind: pa.DataType) -> bool:
    """Whether cells are records or lists, as in JSON."""
    if pa.types.is_struct(kind):
        return all(_is_record(member.type) or _in_json(member.type) for member in kind.fields)
    return pa.types.is_list(kind) and (_is_record(kind.value_type) or _in_json(kind.value_type))


def _in_json(kind: pa.DataType) -> bool:
    return is_text(kind) or pa.types.is_decimal(kind) or any(is_it(kind) for is_it in _JSON)


def _floored(column: pa.Array, to: pa.DataType) -> pa.Array:
    """Times in a coarser unit, rounded toward the past."""
    naive = column.cast(pa.timestamp(column.type.unit))
    if column.type.unit != to.unit:
        naive = pc.floor_temporal(naive, unit="millisecond")
    return naive.cast(pa.timestamp(to.unit)).cast(to)


def _noted(field: pa.Field, note: str) -> pa.Field:
    """The field with a note added to its meaning."""
    if not note:
        return field
    metadata = dict(field.metadata or {})
    meaning = metadata.get(b"description", b"").decode()
    return field.with_metadata(metadata | {b"description": (f"{meaning} ({note})" if meaning else note).encode()})


def _seconds(column: pa.Array) -> pa.Array:
    return pc.divide(column.cast(pa.duration("us")).cast(pa.int64()).cast(pa.float64()), 1e6)


def check_tables(names: Collection[str], *, sheets: bool) -> None:
    """Refuse table names that are not safe as file names or, if requested, as sheet names.

    Raises:
        InputError: a name is unsafe, or two differ in capitals only.
    """
    _check_names(names, "tables")
    for name in names:
        if _DEVICE.fullmatch(name):
            raise InputError(f"{name!r} cannot be a file's name on Windows, where it is a device; rename the table")
        if sheets and (len(name) > SHEET_NAME or name.lower() in RESERVED_SHEETS):
            raise InputError(
                f"{name!r} cannot be a sheet's name: give the table up to {SHEET_NAME} characters,"
                f" and none of the names {', '.join(RESERVED_SHEETS)}"
            )


def _check_names(names: Iterable[str], what: str) -> None:
    """Refuse names that some program reading the export could not handle.

    Raises:
        InputError: a name is unsafe, or two differ in capitals only, as many programs do not tell them apart.
    """
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{name!r} is not a name; {what} are named by text")
        if (folded := name.lower()) in seen:
            raise InputError(f"{what}: {seen[folded]!r} and {name!r} are one name to many readers; rename one of them")
        if _SAFE.fullmatch(name) is None:
            raise InputError(
                f"{what}: {name!r} is not safe for every reader; rename it to up to 63 letters, digits and underscores,"
                " not beginning with a digit"
            )
        seen[folded] = name


def safe_columns(names: Sequence[str]) -> dict[str, str]:
    """The names in an export of paths of members and of SQL's expressions: letters, digits and underscores.

    `amount.initialAmount` is `amount_initialAmount`, and `max(record_time)` is `max_record_time`. A path that is too
    long loses its first steps; equal names are numbered. Other names stay as they are.
    """
    safe: dict[str, str] = {name: name for name in names if "." not in name and "(" not in name}
    taken = {name.lower() for name in safe.values()}
    for name in names:
        if name in safe:
            continue
        path = [re.sub(r"\W+", "_", name).strip("_")] if "(" in name else _DOT.split(name)
        steps = [_UNSAFE.sub("_", step) for step in path]
        while len(steps) > 1 and len("_".join(steps)) > _LONGEST - _ENDING:
            del steps[0]
        plain = "_".join(steps)[: _LONGEST - _ENDING]
        plain = plain if plain[:1].isalpha() else f"_{plain}"
        candidates = (plain, *(f"{plain}_{number}" for number in range(2, 100)))
        safe[name] = next((one for one in candidates if one.lower() not in taken), name)
        taken.add(safe[name].lower())
    return safe
