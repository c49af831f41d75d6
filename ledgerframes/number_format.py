"""Formats numbers and durations for readers; called by charts, reports and frames."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_LARGE: Final = ((1e12, " tn"), (1e9, " bn"), (1e6, " M"), (1e3, " k"))
_LONG: Final = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))
_DURATIONS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def count_text(count: int) -> str:
    """A count: whole up to 99,999, rounded beyond."""
    return f"{count:,}" if abs(count) < 100_000 else amount_text(count)


def amount_text(value: float) -> str:
    """An amount with three digits: 0.0000123, 0.0123, 12.3, 1,230, 12.3 k, 4.56 M."""
    size = abs(value)
    if size >= 1e15:
        return f"{value:.2e}"
    if 0 < size < 1e-4:
        return _plain(value, 3)
    for unit, name in _LARGE:
        if size >= unit and size >= 1e4:
            return f"{_digits(value / unit)}{name}"
    return _digits(value)


def duration_text(seconds: float) -> str:
    """A duration in its natural units: 340 ms, 19.1 s, 1 min 28 s, 2 h 30 min, 3 d 4 h, 120 d."""
    size = abs(seconds)
    for long, name, smaller, smaller_name in _LONG:
        if size >= long * 0.9995:
            whole, rest = divmod(max(round(size / smaller), long // smaller), long // smaller)
            words = f"{whole} {name} {rest} {smaller_name}" if rest else f"{whole} {name}"
            words = f"{round(size / long):,} {name}" if whole >= 100 else words
            return f"-{words}" if seconds < 0 else words
    for unit, name in _DURATIONS:
        if size >= unit * 0.9995:
            return f"{_digits(seconds / unit)} {name}"
    return f"{seconds:.3g} s"


def scale_text(value: float, highest: float) -> str:
    """A value on an axis that reaches up to `highest`, in the one unit of the whole axis."""
    for unit, name in _LARGE:
        if 1e4 <= highest < 1e15 and highest >= unit:
            return f"{value / unit:,.10g}{name}" if value else "0"
    if 0 < abs(value) < 1e-4:
        return _plain(value, 10)
    return f"{value:,.10g}"


def plural(count: int, word: str, words: str | None = None) -> str:
    """A count and its noun, whose plural takes an s unless it is given."""
    return f"{count_text(count)} {word if count == 1 else words or word + 's'}"


def rows_text(rows: int) -> str:
    """A whole count of rows."""
    return f"{rows:,} {'row' if rows == 1 else 'rows'}"


def _plain(value: float, digits: int) -> str:
    """A small amount without an exponent."""
    return f"{Decimal(f'{value:.{digits}g}').normalize():f}"


def _digits(value: float) -> str:
    size = abs(value)
    if size >= 99.95 or value == 0:
        return f"{value:,.0f}"
    text = f"{value:.{1 if size >= 9.995 else 2}f}" if size >= 0.995 else f"{value:.3g}"
    return text.rstrip("0").rstrip(".") if "." in text else text
