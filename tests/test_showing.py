"""Frames, answers and errors as people read them: in a notebook, in a shell, in a pipe."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf

ALICE, BOB = "alice::1220ab" + "0" * 60, "bob::1220cd" + "0" * 60


@pytest.fixture
def frame():
    rows = pd.DataFrame(
        {
            "update_id": [f"1220{number:064x}" for number in range(4)],
            "migration_id": 4,
            "party": [ALICE, BOB, ALICE, BOB],
            "amount": [Decimal("4870624.048646"), Decimal("857580.1254171983"), None, Decimal("0.00012")],
        }
    )
    rows.attrs["complete"] = False
    return rows


def test_a_notebook_shows_hints_with_the_whole_id_under_the_pointer_and_on_copy(frame):
    shown = lf.show(frame)._repr_html_()

    assert f"<td title='{ALICE}'><i data-hint='alice'></i><s>{ALICE}</s></td>" in shown
    assert "<td class='number' title='4,870,624.048646'>4,870,624.05</td>" in shown
    assert "migration id: 4; not complete" in shown
    assert "<th>migration id</th>" not in shown
    assert (
        shown.index("<th>party</th>")
        < shown.index("<th class='number'>amount</th>")
        < shown.index("<th>update id</th>")
    )


def test_time_kind_party_and_amount_come_first_and_ids_last():
    rows = pd.DataFrame(
        {
            "update_id": ["1220a", "1220b"], "note": ["x", "y"], "amount": [1.0, 2.0], "party": [ALICE, BOB],
            "kind": ["app", "sv"], "record_time": pd.to_datetime(["2025-03-03", "2025-03-04"], utc=True),
        }
    )  # fmt: skip

    head = lf.show(rows).text(200).splitlines()[0]

    assert head.split() == ["record_time", "kind", "party", "amount", "note", "update_id"]
    assert rows.columns[0] == "update_id"


def test_a_snapshot_says_as_of_when_it_is():
    with lf.sandbox(updates=200) as net:
        coins = lf.load_coins(net, lf.load_licenses(net).validator)
    assert "as of 2025-03-03 " in lf.show(coins)._repr_html_()

    coins.attrs["cursor"] = [2, (pd.Timestamp.now("UTC") - pd.Timedelta("2h")).isoformat()]
    assert " UTC, 2 h 0 min ago" in lf.show(coins).text(200) or " UTC, 2 h ago" in lf.show(coins).text(200)


def test_an_alias_stands_beside_the_id_which_can_still_be_copied_and_names_from_a_ledger_stay_text():
    rows = pd.DataFrame({"party": [ALICE, "<b>x</b>::1220"]})
    with lf.aliases({ALICE: "<i>Alice</i> & Co"}):
        shown = lf.show(rows)._repr_html_()

    assert f"data-hint='alice'></i><s>{ALICE}</s></td><td>&lt;i&gt;Alice&lt;/i&gt; &amp; Co</td>" in shown
    assert "<b>" not in shown
    assert rows.columns.to_list() == ["party"]


def test_each_column_of_parties_has_its_own_labels_beside_it_and_a_column_label_of_the_frame_stays():
    paid = pd.DataFrame({"receiver_id": [BOB, ALICE, BOB], "amount": [1, 2, 3], "sender": [ALICE, BOB, BOB]})
    own = pd.DataFrame({"party": [ALICE, BOB], "label": ["mine", "yours"]})
    matrix = paid.pivot_table(index="sender", columns="receiver_id", values="amount")

    with lf.aliases({ALICE: "Alice & Co"}):
        lines = lf.show(paid).text(100).splitlines()
        head = lf.show(matrix).text(100).splitlines()[0].split()
        kept = lf.show(own).text(100).splitlines()

    assert lines[0].split() == ["receiver_id", "receiver_label", "sender", "sender_label", "amount"]
    assert lines[1].split() == ["bob", "alice", "Alice", "&", "Co", "1"]
    assert head == ["sender", "label", "Alice", "&", "Co", "bob"]  # a column that is a party has no room beside it
    assert [line.split() for line in kept] == [["party", "label"], ["alice", "mine"], ["bob", "yours"]]


def test_a_shell_gets_its_width_and_names_the_columns_that_have_no_room(frame):
    lines = lf.show(frame).text(30).splitlines()

    assert lines[:3] == ["party        amount", "alice  4,870,624.05", "bob      857,580.13"]
    assert lines[-1] == "no room for: update_id"
    assert max(map(len, lines[:5])) <= 30


def test_a_pipe_gets_the_whole_frame(frame, capsys):
    print(lf.show(frame, rows=1))

    printed = capsys.readouterr().out
    assert printed.count(BOB) == 2
    assert "857580.1254171983" in printed


@pytest.mark.parametrize(
    ("mode", "inside"), [("Context", False), ("Minimal", False), ("Plain", True), ("Verbose", True)]
)
def test_a_notebook_shows_the_line_that_was_called_and_the_message(mode, inside, capsys):
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell.instance()
    try:
        shell.run_line_magic("xmode", mode)
        capsys.readouterr()
        shell.run_cell("import ledgerframes as lf\nlf.describe('updats')")
        printed = capsys.readouterr()
    finally:
        shells.InteractiveShell.clear_instance()

    words = re.sub(r"\x1b\[[0-9;]*m", "", printed.out + printed.err)
    assert "InputError: " in words
    assert "did you mean 'updates'?" in words
    assert ("descriptions.py" in words) == inside
    assert mode == "Minimal" or "lf.describe('updats')" in words or "line 2" in words


SHOWN = {
    "a day": (pd.DataFrame({"t": pd.to_datetime(["2025-03-03", "2025-03-04 00:00:01"], format="mixed", utc=True)}),
              ["2025-03-03", "2025-03-04 00:00:01"]),
    "an id as a name": (pd.DataFrame({"time": [1, 2], ALICE: [1.0, 2.0]}), ["time  alice"]),
    "a group": (pd.DataFrame({"n": [1, 2]}, index=pd.Index([ALICE, BOB], name="party")), ["alice  1"]),
    "whole numbers and nulls": (pa.table({"n": pa.array([2**60 + 1, None])}), ["1,152,921,504,606,846,977"]),
    "the same of polars": (pl.DataFrame({"n": [2**60 + 1, None]}), ["1,152,921,504,606,846,977"]),
    "numpy's among objects": (pd.DataFrame({"n": pd.Series([np.float64(0.25), "unknown"], dtype=object)}), ["0.25"]),
    "many digits": (pd.DataFrame({"n": [Decimal(2**127 - 1), Decimal("-2.50")]}), [f"{2**127 - 1:,}"]),
}  # fmt: skip


@pytest.mark.parametrize(("frame", "said"), SHOWN.values(), ids=SHOWN)
def test_a_value_is_shown_as_it_is(frame, said):
    shown = [" ".join(line.split()) for line in lf.show(frame).text(100).splitlines()]
    assert [text for text in said if not any(" ".join(text.split()) in line for line in shown)] == []


def test_a_description_is_shown_whole_and_is_a_frame():
    described = lf.describe("events")

    meaning = described.meaning[described.column == "record_month"].iloc[0]
    assert meaning in described._repr_html_()
    assert repr(described).endswith("no room for: source")
    assert type(described[described.nullable]) is pd.DataFrame


def test_what_cannot_be_shown_is_refused(frame):
    twice = pd.DataFrame([[1, 2]], columns=["amount", "amount"])
    for wrong, rows, said in ((3, 9, "frame=3 is not valid"), (frame, 0, "rows"), (twice, 9, "named amount; rename")):
        with pytest.raises(lf.errors.InputError, match=said):
            lf.show(wrong, rows=rows)
    assert "the first 2 of 4 rows" in lf.show(frame, rows=2)._repr_html_()
