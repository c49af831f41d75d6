"""Times of the simulated ledger: integer microseconds since 1970 in UTC, and their text; the whole sandbox uses it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

# Migration id and record time in microseconds.
Cursor = tuple[int, int]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SECOND: Final = 1_000_000
HOUR: Final = 3_600 * SECOND
DAY: Final = 24 * HOUR
FIRST: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
LAST: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)

_TEXT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)


def exact(micros: int) -> str:
    """Write an instant with six fractional digits, as every record time is sent."""
    minute, rest = divmod(micros, 60 * SECOND)
    # A hundred seconds in front keep the zeros.
    digits = str(100 * SECOND + rest)
    return f"{_minute(minute)}:{digits[1:3]}.{digits[3:]}Z"


# The times of an update are close to each other.
@lru_cache(1_024)
def _minute(minutes: int) -> str:
    return (EPOCH + timedelta(minutes=minutes)).isoformat()[:16]


def trimmed(micros: int) -> str:
    """Write an instant without the trailing zeros of its fraction, as creation times are sent."""
    # Servers trim `created_at` and times in payloads, and pad record time and effective time.
    return trim(exact(micros))


def trim(written: str) -> str:
    """An instant that `exact` wrote, as creation times are sent."""
    return written[:-1].rstrip("0").removesuffix(".") + "Z"


# The ends of a few rounds and coupons are needed at every step of a history.
@lru_cache(4_096)
def parse(text: str) -> int:
    """Read a time a client sent, with any number of fractional digits, floored to microseconds.

    Raises:
        ValueError: the text is not an ISO-8601 time with a zone, or lies outside the years 1 to 9999.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"Invalid time {text!r}")
    whole, fraction, sign, hours, minutes = match.groups()
    zone = UTC if sign is None else timezone(timedelta(hours=int(hours), minutes=int(minutes)) * int(sign + "1"))
    micros = (datetime.fromisoformat(whole).replace(tzinfo=zone) - EPOCH) // timedelta(microseconds=1)
    micros += int(((fraction or "") + "000000")[:6])
    if not FIRST <= micros <= LAST:
        raise ValueError(f"Time {text!r} lies outside the years 1 to 9999")
    return micros
