"""Rows for any declared table, and text that has hurt exports before."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa

HOSTILE = (
    *("", "'", "''=1", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u3000\uff1d1", "\u200b=1"),
    *("\ufeff=cmd", "\x00=1", "\u202e=1", "\uff0b1", '=HYPERLINK("http://x";"y")', "=cmd|' /C calc'!A0"),
    *('say "hi"', '"', '""', "a,b;c", "two\r\nlines", "\r", "\n", "trailing ", " leading", "NULL", "null", "NaN"),
    *("1e5", "007", "12345678901234567890", "2025-03-03", "true", "http://example.com/", "mailto:a@b.c"),
    *("internal:Sheet!A1", "_x0041_", "_x000D_", "\x00", "\x01\x1f", "\x7f\x85", "\ud7ff\ue000", "\ufffe\uffff"),
    *("\U0001f600", "e\u0301", "שלום", "<r>&</r>", "<r><t>x</t></r>", "<b>&amp;", "]]>", "a\tb", "\\N", "\u2028"),
    "é" * 300,
)
TIMES = (
    datetime(1, 1, 1, tzinfo=UTC), datetime(1899, 12, 31, 23, 59, 59, 999_999, UTC), datetime(1900, 2, 28, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2025, 3, 3, 9, 10, 0, 123_456, UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
)  # fmt: skip
AMOUNTS = tuple(
    map(Decimal, ("0", "1", "-1.5", "0.0066496171", "-1.43E-8", "0.1", "9" * 26 + "." + "9" * 10, "1234567.8912345678"))
)
NUMBERS = (0, 1, -1, 10**15 - 1, 10**15, 2**53 + 1, 2**63 - 1, -(2**63))
LISTS = ([], [""], ["a", 'b"c', "=1"], ["x,y", "\n"])
#: The values of columns by their name, and of the others by their type.
NAMED = {"record_month": ("2025-03", "2025-04"), "migration_id": (0, 1, 2)}
TYPED = {
    pa.types.is_string: HOSTILE, pa.types.is_timestamp: TIMES, pa.types.is_decimal: AMOUNTS, pa.types.is_list: LISTS,
    pa.types.is_integer: NUMBERS, pa.types.is_boolean: (True, False),
}  # fmt: skip


def column(field: pa.Field, count: int) -> pa.Array:
    """As many values as asked for of a column, hostile ones first, and a null now and then where it may be."""
    values = NAMED.get(field.name) or next(values for of_type, values in TYPED.items() if of_type(field.type))
    cells = [None if field.nullable and n % 5 == 4 else values[n % len(values)] for n in range(count)]
    return pa.array(cells, field.type)


def sample(table, count: int = 3 * len(HOSTILE)) -> pa.Table:
    """Rows of a declared table."""
    return pa.table([column(field, count) for field in table.schema], schema=table.schema)


def csv_lines(text):
    """The lines of RFC 4180, telling a cell of nothing (None) from empty text in quotes."""
    line = []
    for quoted, bare, end in re.findall(r'(?:("(?:[^"]|"")*")|([^",\r\n]*))(,|\r\n)', text):
        line.append(quoted[1:-1].replace('""', '"') if quoted else bare or None)
        if end != ",":
            yield line
            line = []
