"""Tables on standard output: what is in a cell stays what it is, lines fit a terminal, a pipe gets a line a row."""

import io
import json
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.cli.output import lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""), (float("nan"), ""), (pd.NaT, ""), (pd.NA, ""), (2**60, "1152921504606846976"), (0.5, "0.5"),
        (Decimal("0E-10"), "0"), (Decimal("1.50"), "1.5"), (Decimal("1E+3"), "1000"),
        (True, "true"), (["a", None], '["a", null]'),
        ({"total": Decimal("1.10")}, '{"total": "1.10"}'), ("[bold]x[/bold]", "[bold]x[/bold]"), (":smile:", ":smile:"),
        (datetime(2026, 1, 30, 6, 0, 0, 5, tzinfo=UTC), "2026-01-30T06:00:00.000005Z"), ("a\nb", r"a\u000ab"),
        ("\x1b[2J", r"\u001b[2J"), (pd.Timestamp("2026-01-30", tz="UTC"), "2026-01-30T00:00:00Z"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_cell_says_what_it_holds(value, shown):
    text = lines(pa.table({"name": pa.array([value], from_pandas=True)}))
    assert text.split("\n")[-1].strip() == shown


def test_numbers_stand_to_the_right_and_text_to_the_left_also_of_one_name_and_without_rows():
    text = lines(pa.table({"n": [5, None, 1000], "word": ["a", "bc", "d"]}))

    assert text.splitlines() == ["   n  word", "   5  a", "      bc", "1000  d"]
    assert lines(pa.table([[1], [2]], names=["n", "n"])).splitlines() == ["n  n", "1  2"]
    assert lines(pa.table({"n": [], "m": []})).splitlines() == ["n  m"]


@settings(max_examples=30)
@given(st.lists(st.text(max_size=300), min_size=1, max_size=5))
def test_a_row_is_a_line_in_a_pipe(cells):
    assert len(lines(pa.table({"word": cells, "n": range(len(cells))})).splitlines()) == 1 + len(cells)


@pytest.mark.parametrize(
    ("words", "begun", "said"),
    [
        (("tables",), "holdings_summary", "meaning"),
        (("sql", "LAKE", "from updates limit 3"), "2025-03-03", "no room for: "),
        (("sql", "LAKE", "select 'a\nb' as n, 'two' as n"), r"a\u000ab  two", "n"),
        (("sql", "LAKE", "select 1 as n, 2 as m", "--csv"), "n,m", "n,m\n1,2\n"),
    ],
    ids=["reference", "frame", "one name", "csv"],
)
def test_a_terminal_gets_lines_that_fit(command, monkeypatch, lake, words, begun, said):
    monkeypatch.setattr(sys, "stdout", terminal := io.StringIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    ended = command(*(lake if word == "LAKE" else word for word in words), COLUMNS="70")
    printed = terminal.getvalue().splitlines()

    assert ended.code == 0
    assert max(map(len, printed[:4])) <= 70  # below the rows stand notes, which a terminal wraps
    assert any(line.startswith(begun) for line in printed)
    assert said in terminal.getvalue()


def test_sql_shows_whole_numbers_exactly_beside_missing_ones_and_compact_its_tables(command, lake):
    shown = command("sql", lake, "select unnest([1152921504606846977, null])::bigint as n").out

    assert shown.split() == ["n", "1152921504606846977"]
    assert "updates" in command("compact", lake).out
    assert {row["table"] for row in json.loads(command("compact", lake, "--json").out)} >= {"updates", "events"}
