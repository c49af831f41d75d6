"""Timestamps as integer microseconds since 1970 in UTC; every layer compares times by them.

The interfaces send ISO-8601 text with 0 to 9 fractional digits, in years 1 to 9999, whose text order is not time order.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from ledgerframes.errors import InputError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
#: Microseconds of a day.
DAY: Final = 86_400_000_000
EARLIEST: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
LATEST: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?",
    re.ASCII,
)


#: Words for days, which depend on when they are read: a message gives the date instead.
_DAYS_AGO: Final = {"today": timedelta(0), "yesterday": timedelta(days=1)}


def parse_timestamp(text: str) -> tuple[int, bool]:
    """Read ISO-8601 text; without a zone it is UTC.

    Returns:
        Microseconds, rounded down, and whether digits beyond them were cut off.

    Raises:
        ValueError: the text is not a time of the years 1 to 9999.
    """
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:80]!r} is not an ISO-8601 time such as 2024-06-24T21:08:34.404896Z")
    year, month, day, hour, minute, second, fraction, _zulu, sign, off_hours, off_minutes = match.groups()
    whole = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC)
    nanos = int((fraction or "").ljust(9, "0"))
    micros = (whole - EPOCH) // MICROSECOND + nanos // 1000
    if sign:
        if int(off_hours) > 23 or int(off_minutes) > 59:
            raise ValueError(f"{text!r} has an offset from UTC that no zone has")
        shift = (int(off_hours) * 60 + int(off_minutes)) * 60_000_000
        micros -= shift if sign == "+" else -shift
    if not EARLIEST <= micros <= LATEST:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999 in UTC")
    return micros, nanos % 1000 != 0


def format_timestamp(micros: int) -> str:
    """Write microseconds as the canonical record time: six fractional digits and Z."""
    time = EPOCH + timedelta(microseconds=micros)
    return f"{time.isoformat(timespec='microseconds')[:26]}Z"


def format_trimmed(micros: int) -> str:
    """Write microseconds as the canonical created_at: without trailing zeros of the fraction."""
    text = format_timestamp(micros)[:-1].rstrip("0")
    return text.removesuffix(".") + "Z"


def month_of(micros: int) -> str:
    """The calendar month in UTC as `YYYY-MM`, the partition key of a store."""
    return format_timestamp(micros)[:7]


def to_micros(value: str | date | datetime, name: str, *, up: bool = False) -> int:
    """Read a caller's time: str, date, datetime, pandas Timestamp or numpy datetime64; without a zone it is UTC.

    Args:
        value: the time; a day alone (`2024-06-24`) means its beginning.
        name: the argument's name, for the message.
        up: whether to round up to microseconds: the same items are before that, and from there on. The latest time
            that can be written stays as it is.

    Raises:
        InputError: the value is not a time.
    """
    finer = False
    if getattr(getattr(value, "dtype", None), "kind", "") == "M" and not getattr(value, "ndim", 0):
        whole = value.astype("datetime64[us]")  # type: ignore[union-attr]  # numpy's
        finer, value = bool(value > whole), whole.item()  # None for NaT
    if isinstance(value, str):
        text = value.strip()
        try:
            day = re.fullmatch(r"\d{4}-\d\d-\d\d", text)
            micros, finer = parse_timestamp(f"{text}T00:00:00Z" if day else text)
            return min(micros + (up and finer), LATEST)
        except ValueError as error:
            raise InputError(f"{name}={value[:80]!r} is not a time: {_remedy(text, name)}") from error
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, datetime) and value == value:  # pandas' NaT differs from itself
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        finer = finer or getattr(value, "nanosecond", 0) > 0  # pandas'
        return min(int((aware - EPOCH) // MICROSECOND) + (up and finer), LATEST)
    raise InputError(f"{name}={repr(value)[:200]} is not a time; give text, a datetime or a Timestamp in UTC")


def http_date(text: str) -> datetime:
    """The moment of an HTTP header, in UTC if it names no zone or the zone `-0000`.

    Raises:
        ValueError: it is not a date.
    """
    # Imported here, since it takes longer than most of the package.
    from email.utils import parsedate_to_datetime

    moment = parsedate_to_datetime(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _remedy(text: str, name: str) -> str:
    """A suggestion in place of a text that is not a time: the days that it may mean, or the form."""
    latest = ', or last="1d" for the latest day' if name == "start" else ""
    if text.lower() in _DAYS_AGO:
        return f"write {datetime.now(UTC).date() - _DAYS_AGO[text.lower()]}{latest}"
    year_first = re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", text, re.ASCII)
    year_last = re.fullmatch(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", text, re.ASCII)
    days: list[tuple[str, ...]] = [year_first.groups()] if year_first else []
    if year_last:
        first, second, year = year_last.groups()
        days = [(year, second, first), (year, first, second)]
    meant = {day: None for parts in days if (day := _day(*map(int, parts)))}
    if meant:
        return f"write {' or '.join(meant)}"
    of_lake = ", a sync's id or the number of a document" if name == "as_of" else ""
    return f"write a day such as 2026-01-30, a time such as 2026-01-30T06:00{of_lake}{latest}"


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
