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


def test_ids_as_names_of_columns_are_short_too():
    rows = pd.DataFrame({"time": [1, 2, 3], ALICE: [1.0, 2.0, 3.0], BOB: [3.0, 4.0, 5.0]})

    assert lf.show(rows).text(60).splitlines()[0].split() == ["time", "alice", "bob"]
    assert "<th class='number'>alice</th>" in lf.show(rows)._repr_html_()


def test_a_day_is_written_as_a_day():
    times = pd.DataFrame({"time": pd.to_datetime(["2025-03-03 00:00:00", "2025-03-04 00:00:01"], utc=True)})

    assert lf.show(times).text(40).splitlines()[1:] == ["2025-03-03", "2025-03-04 00:00:01"]


def test_groups_are_columns_and_the_frame_stays(frame):
    sums = frame.assign(coupons=1).groupby("party").coupons.sum().to_frame()

    assert lf.show(sums).text(40).splitlines()[0].split() == ["party", "coupons"]
    assert lf.show(sums).frame is sums


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


def test_the_label_of_the_one_party_of_a_frame_is_in_the_caption_with_it():
    rows = pd.DataFrame({"party": [ALICE] * 3, "amount": [1, 2, 3]})
    with lf.aliases({ALICE: "Alice & Co"}):
        assert lf.show(rows).text(100).splitlines()[-1] == "party: alice; label: Alice & Co"


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


def test_rows_are_counted_and_what_is_no_frame_is_refused(frame):
    assert "the first 2 of 4 rows" in lf.show(frame, rows=2)._repr_html_()
    assert lf.show(frame).frame is frame
    with pytest.raises(lf.errors.InputError, match="frame=3 is not valid: give a frame"):
        lf.show(3)
    with pytest.raises(lf.errors.InputError, match="rows"):
        lf.show(frame, rows=0)


def test_tables_and_descriptions_are_shown_whole_and_are_frames():
    described, listed = lf.describe("events"), lf.tables()

    meaning = described.meaning[described.column == "record_month"].iloc[0]
    assert meaning in described._repr_html_()
    assert " ".join(meaning.split()[:4]) in repr(described)
    assert repr(described).endswith("no room for: source")
    assert isinstance(listed, pd.DataFrame)
    assert type(described[described.nullable]) is pd.DataFrame
    assert max(map(len, repr(described).splitlines())) <= 80


def test_answers_interfaces_and_styles_say_what_they_are():
    with lf.sandbox(updates=40) as net:
        page, contract = net.scan.updates(page_size=2), net.scan.dso().latest_mining_round.contract
        assert repr(page).startswith("HistoryPage(2 items, (migration 0, 2025-")
        assert repr(contract).startswith("Contract(Splice.Round:OpenMiningRound 00")
        assert len(repr(contract)) < 120
        assert repr(net.scan) == f"<Scan {net.sandbox.scan_url}>"
        assert repr(net.ledger).startswith("<Ledger http://127.0.0.1:")
    assert repr(lf.plot.style("dark")) == "style('dark', scale=1)"


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


def test_a_notebook_keeps_no_whole_frame_as_text():
    rows = pd.DataFrame({"party": [ALICE, BOB] * 500, "amount": range(1_000)})
    kept = lf.show(rows)._repr_mimebundle_()

    assert kept["text/html"] == lf.show(rows)._repr_html_()
    assert max(map(len, kept["text/plain"].splitlines())) <= 120
    assert len(kept["text/plain"].splitlines()) < 30


def test_whole_numbers_beside_nulls_keep_their_digits():
    table = pa.table({"number": pa.array([2**60 + 1, None]), "name": ["one", "two"]})
    for frame in (table, pl.from_arrow(table)):
        assert "1,152,921,504,606,846,977" in lf.show(frame).text(80)


def test_columns_of_one_name_are_refused():
    with pytest.raises(lf.errors.InputError, match="more than one column named amount; rename them"):
        lf.show(pd.DataFrame([[1, 2]], columns=["amount", "amount"]))


def test_numbers_of_numpy_in_a_column_of_objects_are_shown():
    frame = pd.DataFrame({"value": pd.Series([np.float64(0.25), "unknown"], dtype=object)})
    assert "0.25" in lf.show(frame)._repr_html_()


def test_a_number_of_more_digits_than_decimals_divide_is_shown():
    sums = pd.DataFrame({"sum": [Decimal(2**127 - 1), Decimal(2**127 - 1) / 10**10, Decimal("-2.50")]})

    assert lf.show(sums).text(80).splitlines()[1].strip() == f"{2**127 - 1:,}"
