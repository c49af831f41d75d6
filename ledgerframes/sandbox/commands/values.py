"""Contracts' and choices' arguments as typed records, from JSON and back in the ledger's spelling; models use it."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from ledgerframes.sandbox.commands.errors import wrong_values
from ledgerframes.sandbox.http.responses import INT64
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal

R = TypeVar("R", bound="Record")

_DECIMAL: Final = re.compile(r"(-?)(\d{1,28})(?:\.(\d{1,10}))?", re.ASCII)
_INTEGER: Final = re.compile(r"-?\d{1,19}", re.ASCII)


class Record(Struct, rename="camel", forbid_unknown_fields=True):
    """A record of the ledger's own language; its members have the types that are named here or msgspec's."""


# A whole number of the tenth decimal place, so that sums are exact.
class Amount(int):
    """A decimal number in ten-billionths: up to 28 digits before the point and ten after it."""


class Integer(int):
    """A whole number of 64 bits, which goes out as text."""


class Moment(int):
    """An instant in microseconds."""


class Nothing(Record):
    """The record without members."""


def read_record(value: Any, kind: type[R], *, place: str) -> R:
    """A record from its JSON.

    Args:
        value: what came in.
        kind: the record it is to be.
        place: the template or choice, for the message.

    Raises:
        LedgerError: a member is missing, unknown or of another type.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_read)
    except (msgspec.ValidationError, RecursionError) as error:
        raise wrong_values(f"{place}: {error}") from error


def write_record(record: Record) -> dict[str, Any]:
    """A record as the ledger spells it: numbers as text, decimals with ten places, times without trailing zeros."""
    return cast("dict[str, Any]", msgspec.to_builtins(record, enc_hook=_write))


def _read(kind: type, value: Any) -> Any:
    readers = {Amount: _amount, Integer: _integer, Moment: _moment}
    return kind(readers[kind](value))


def _write(value: Any) -> str:
    if isinstance(value, Amount):
        return decimal(value)
    return timestamps.trimmed(value) if isinstance(value, Moment) else str(int(value))


def _amount(value: Any) -> int:
    match = _DECIMAL.fullmatch(_number(value))
    if match is None:
        raise ValueError("Expected a decimal with up to 28 digits before the point and ten after it")
    sign, whole, fraction = match.groups()
    return int(sign + "1") * (int(whole) * UNITS + int((fraction or "").ljust(10, "0")))


def _integer(value: Any) -> int:
    text = _number(value)
    if not _INTEGER.fullmatch(text) or not -INT64 <= int(text) < INT64:
        raise ValueError("Expected a whole number of 64 bits")
    return int(text)


def _moment(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError("Expected a time as text")  # noqa: TRY004 - msgspec names the place for a ValueError only
    return timestamps.parse(value)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
