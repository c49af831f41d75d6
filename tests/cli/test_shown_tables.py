"""Tables on standard output: what is in a cell stays what it is, lines fit a terminal, a pipe gets a line a row."""

import json
import os
import pty
import subprocess
from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.cli.output import table_text

LONG = "a meaning that takes many more signs than a narrow terminal has in one of its lines"
plain = st.text(st.characters(codec="ascii", categories=("L", "N", "Zs")), max_size=300)


def one(value, width=None):
    """How a cell is shown."""
    return table_text([("name", [value])], width=width).split("\n")[-1]


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
    assert one(value).strip() == shown


def test_numbers_stand_to_the_right_and_text_to_the_left_also_of_one_name_and_without_rows():
    text = table_text([("n", [5, None, 1000]), ("word", ["a", "bc", "d"])], width=None)

    assert text.splitlines() == ["   n  word", "   5  a", "      bc", "1000  d"]
    assert table_text([("n", [1]), ("n", [2])], width=None).splitlines() == ["n  n", "1  2"]
    assert table_text([("n", []), ("m", [])], width=None).splitlines() == ["n  m"]


@given(st.lists(st.text(max_size=300), min_size=1, max_size=5))
def test_a_row_is_a_line_in_a_pipe(cells):
    assert len(table_text([("word", cells), ("n", list(range(len(cells))))], width=None).splitlines()) == 1 + len(cells)


@given(st.lists(plain, min_size=1), st.integers(30, 200))
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut_off(cells, width):
    lines = table_text([("word", cells)], width=width).splitlines()

    assert max(map(len, lines)) <= width
    assert "".join("".join(lines[2:]).split()) == "".join("".join(cells).split())


def test_with_too_many_columns_a_row_becomes_a_list():
    text = table_text([(f"column {number}", ["x", LONG]) for number in range(12)], width=80)

    assert text.splitlines()[:2] == ["column 0   x", "column 1   x"]
    assert [line for line in text.splitlines() if LONG in line] == [f"column {n:<2}  {LONG}" for n in range(12)]


def test_a_terminal_gets_lines_that_fit(program, surroundings, tmp_path):
    ours, theirs = pty.openpty()
    narrow = {**surroundings, "COLUMNS": "70"}
    with subprocess.Popen([*program, "tables"], stdout=theirs, env=narrow, cwd=tmp_path) as started:
        os.close(theirs)
        said = b""
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            while piece := read(terminal):
                said += piece
    lines = said.decode().splitlines()

    assert started.returncode == 0
    assert max(map(len, lines)) <= 70
    assert any(line.startswith("holdings_summary") for line in lines)


def read(terminal):
    """What comes next; nothing at the end, which some systems tell by an error."""
    try:
        return terminal.read(4096)
    except OSError:
        return b""


def test_sql_shows_whole_numbers_exactly_beside_missing_ones_and_compact_its_tables(command, lake):
    shown = command("sql", lake, "select unnest([1152921504606846977, null])::bigint as n").out

    assert shown.split() == ["n", "1152921504606846977"]
    assert "updates" in command("compact", lake).out
    assert {row["table"] for row in json.loads(command("compact", lake, "--json").out)} >= {"updates", "events"}
