"""`conditions`: a caller's `where=` as an expression over a stored table; `Store.load` calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import reduce
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import flag, refuse, shown, text, whole_number
from ledgerframes.errors import InputError, warn
from ledgerframes.loaders.event_choice import slip_of
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import to_micros

if TYPE_CHECKING:
    from ledgerframes.store.read.reading import Part

Where = (
    Any  # a pyarrow Expression, a mapping of column to value, values or range, or a list of (column, operator, value)
)
_FORMS: Final = (
    "give {column: value}, {column: [value, value]}, {column: (start, end)} for a range, [(column, '>', value)] or a"
    " pyarrow expression; store.sql takes SQL"
)

#: Columns of few different texts, which are names.
_NAMES: Final = {"template_name", "choice", "kind", "event_type", "package_name"}


def conditions(where: Where, table: Table) -> pc.Expression | None:
    """Read a caller's `where=`.

    Raises:
        InputError: it names a column that the table lacks, has a value of another type, or has an unknown form.
    """
    if where is None:
        return None
    if isinstance(where, pc.Expression):
        rows = where
    elif isinstance(where, Mapping):
        table.pick(list(where), "where")
        terms = [_is(table, name, value) for name, value in where.items()]
        if not terms:
            return None
        rows = reduce(lambda left, right: left & right, terms)
    elif isinstance(where, Sequence) and not isinstance(where, str):
        rows = _listed(where, table)
    else:
        refuse("where", where, _FORMS)
    try:
        table.schema.empty_table().filter(rows)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(f"where={shown(where)} cannot be applied to {table.name!r}: {error}; {_FORMS}") from error
    return rows


def warn_of_slips(where: Where, read: Part) -> None:
    """Warn of names that no row has, if others are like them; called where nothing was found.

    Args:
        where: as `conditions` took it.
        read: the rows that it chose among; only the columns of names are read.

    Raises:
        StoreError: a file is damaged.
    """
    for column in sorted(_NAMES & {*where}) if isinstance(where, Mapping) else ():
        value = where[column]
        asked = {value} if isinstance(value, str) else {*value} if isinstance(value, list | set | frozenset) else set()
        words: set[str] = set()
        with damage_named([read.table]):
            for batch in read.dataset.scanner(columns=[column]).to_batches() if asked else ():
                words.update(filter(None, batch[column].unique().to_pylist()))
                if asked <= words:
                    break
        for name in sorted(asked - words, key=str):
            if near := slip_of(name, words):
                warn(f"where[{column!r}]={name!r}: no row of this range has it{near}", UserWarning)


def _is(table: Table, name: str, value: Any) -> pc.Expression:
    column = pc.field(name)
    if isinstance(value, tuple):
        return _within(table, name, value)
    operand = _operand(table, name, value)
    if isinstance(operand, pa.Array):
        return column.isin(operand)
    return column.is_null() if value is None else column == operand


def _within(table: Table, name: str, value: tuple[Any, ...]) -> pc.Expression:
    """The rows of a range: start inclusive, end exclusive, None for an open side; nulls lie in no range."""
    if len(value) != 2:
        refuse(f"where[{name!r}]", value, "give a list for several values, or a pair (start, end) for a range")
    start, end = value
    rows = pc.field(name).is_valid()
    if start is not None:
        rows &= pc.field(name) >= _scalar(table, name, start)
    if end is not None:
        rows &= pc.field(name) < _scalar(table, name, end)
    return rows


def _listed(where: Sequence[Any], table: Table) -> pc.Expression:
    """Triples as pyarrow reads them: a list combines them with and, a list of lists with or."""
    import pyarrow.parquet as pq

    groups = [[group] if isinstance(group, tuple) else group for group in where]
    try:
        terms = [[(name, operator, value) for name, operator, value in group] for group in groups]
        table.pick(sorted({name for group in terms for name, _, _ in group}), "where")
        read = [[(name, how, _operand(table, name, value)) for name, how, value in group] for group in terms]
        # Groups of single triples are one group: all of them must hold.
        return pq.filters_to_expression(
            [term for group in read for term in group] if all(isinstance(group, tuple) for group in where) else read
        )
    except (TypeError, ValueError, IndexError, pa.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"where={shown(where)} is not a list of (column, operator, value): {error}") from error


def _operand(table: Table, name: str, value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        return pa.array([_value(table, name, item) for item in value], table.schema.field(name).type)
    return None if value is None else _scalar(table, name, value)


def _scalar(table: Table, name: str, value: Any) -> pa.Scalar:
    return pa.scalar(_value(table, name, value), table.schema.field(name).type)


def _value(table: Table, name: str, value: Any) -> Any:
    """A value in the column's own type, or an error that names both.

    Raises:
        InputError: the column cannot hold it.
    """
    kind, argument = table.schema.field(name).type, f"where[{name!r}]"
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        if not isinstance(value, str | date) and getattr(getattr(value, "dtype", None), "kind", "") != "M":
            refuse(argument, value, "the column holds times; give one such as '2026-01-30' or a datetime, in UTC")
        return to_micros(value, argument)
    if pa.types.is_integer(kind):
        return whole_number(value, argument, least=-(2**63), most=2**63 - 1)
    if pa.types.is_boolean(kind):
        return flag(value, argument)
    if pa.types.is_decimal(kind):
        return _amount(argument, value, kind)
    if pa.types.is_string(kind):
        return text(value, argument, "text, which the column holds")
    return refuse(argument, value, f"the column holds {kind}, which where= cannot compare; use store.sql")


def _amount(argument: str, value: Any, kind: pa.DataType) -> Decimal:
    rule = "the column holds amounts; give a Decimal, such as Decimal('1.5'), a number, or its digits as text"
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        refuse(argument, value, rule)
    try:
        amount = Decimal(str(value))
        if isfinite(amount):
            pa.scalar(amount, kind)
            return amount
    except (ArithmeticError, pa.ArrowException):
        pass
    return refuse(argument, value, f"{rule}, of {kind.scale} decimals at most")
