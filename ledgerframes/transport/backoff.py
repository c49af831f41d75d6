"""How long to wait before a request is retried; called by `retrying`, decided without any input or output."""

from __future__ import annotations

import random
import re
from datetime import UTC
from typing import Final

# Scans that limit by client address count requests in windows of 60 seconds.
LONGEST: Final = 60.0
FIRST: Final = 0.5
# 0.5 s doubled seven times is above LONGEST; without a limit the power itself would grow without bound.
GROWTH_ENDS: Final = 7

# The ledger writes retryInfo as words, such as `1 second`; its format is documented nowhere.
_INFO = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", re.ASCII)
_UNITS: Final = {
    "": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "milli": 1e-3, "millisecond": 1e-3,
    "us": 1e-6, "micro": 1e-6, "microsecond": 1e-6, "ns": 1e-9, "nano": 1e-9, "nanosecond": 1e-9,
    "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0,
}  # fmt: skip


def jittered(attempt: int) -> float:
    """Seconds to wait after the given attempt, counted from 1: exponential, with full jitter, at most a minute."""
    ceiling = min(LONGEST, FIRST * 2 ** min(attempt - 1, GROWTH_ENDS))
    return random.uniform(0, ceiling)  # noqa: S311 -- spreads clients out; nothing secret depends on it


def retry_after(value: str | None, now: float) -> float | None:
    """Read a Retry-After header, seconds or HTTP-date, as seconds from now; None if it cannot be read."""
    text = (value or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII):
        return _positive(float(text))
    # Imported here, since most servers send no Retry-After at all.
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
        return _positive((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def retry_info(value: object) -> float | None:
    """Read the ledger's retryInfo, such as `1 second`, as seconds; None if it cannot be read."""
    match = _INFO.fullmatch(value) if isinstance(value, str) else None
    unit = match and _UNITS.get(match[2].lower(), _UNITS.get(match[2].lower().removesuffix("s")))
    return _positive(float(match[1]) * unit) if match and unit else None


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None
