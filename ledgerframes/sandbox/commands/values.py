"""Contracts' and choices' arguments as typed records, from JSON and back in the ledger's spelling; models use it."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from ledgerframes.sandbox.commands.errors import wrong_values
from ledgerframes.sandbox.world.amounts import UNITS, decimal

R = TypeVar("R", bound="Record")

_DECIMAL: Final = re.compile(r"(-?)(\d{1,28})(?:\.(\d{1,10}))?", re.ASCII)


class Record(Struct, rename="camel", forbid_unknown_fields=True):
    """A record of the ledger's own language; its members have the types that are named here or msgspec's."""


# A whole number of the tenth decimal place, so that sums are exact.
class Amount(int):
    """A decimal number in ten-billionths: up to 28 digits before the point and ten after it."""


class Nothing(Record):
    """The record without members."""


def read_record(value: Any, kind: type[R], *, place: str) -> R:
    """A record from its JSON.

    Args:
        value: the received value.
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
    """A record as the ledger spells it: decimals as text with ten places."""
    return cast("dict[str, Any]", msgspec.to_builtins(record, enc_hook=_write))


def _read(kind: type, value: Any) -> Any:
    return kind(_amount(value))


def _write(value: Amount) -> str:
    return decimal(value)


def _amount(value: Any) -> int:
    match = _DECIMAL.fullmatch(_number(value))
    if match is None:
        raise ValueError("Expected a decimal with up to 28 digits before the point and ten after it")
    sign, whole, fraction = match.groups()
    return int(sign + "1") * (int(whole) * UNITS + int((fraction or "").ljust(10, "0")))


def _number(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
