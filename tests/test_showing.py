"""Frames, answers, reports of long operations and errors as people read them: in a notebook, a shell, a pipe."""

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.export.report import ExportedTable
from ledgerframes.loaders.cross_check import Difference
from ledgerframes.store.checks.check import Check, CheckFinding
from ledgerframes.store.checks.repair import RepairReport
from tests.test_shown_text import EVIL

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


def test_time_kind_party_and_amount_come_first_and_ids_last():
    rows = pd.DataFrame(
        {
            "update_id": ["1220a", "1220b"], "note": ["x", "y"], "amount": [1.0, 2.0], "party": [ALICE, BOB],
            "kind": ["app", "sv"], "record_time": pd.to_datetime(["2025-03-03", "2025-03-04"], utc=True),
        }
    )  # fmt: skip

    head = lf.show(rows).text(200).splitlines()[0]

    assert head.split() == ["record_time", "kind", "party", "amount", "note", "update_id"]
    more = rows.assign(closed_at=rows.record_time, payer=rows.party, round=[10_000, 20_000], weight=[0.5, 1.5])
    head = lf.show(more).text(36).splitlines()[0]  # and a narrow shell has one of each
    assert head.split() == ["record_time", "kind", "party", "amount"]
    assert "<th class='time'>record time</th>" in lf.show(rows)._repr_html_()
    assert rows.columns[0] == "update_id"


def test_a_snapshot_says_as_of_when_it_is(small):
    coins = lf.load_coins(small, lf.load_licenses(small).validator)
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
    "a sentence": (pd.DataFrame({"text": ["One row per " * 6, "0" * 70]}), ["per One row per…", f"{'0' * 24}…"]),
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


DIFFERENCE = Difference(EVIL, 1, *[EVIL] * 5)
RESULTS = {
    "SyncReport": (
        lf.types.SyncReport("s", "2026-01-01T00:00:00Z", covered=(EVIL,), error=EVIL),
        {"covered": [EVIL]},
    ),
    "Check": (Check("lake", {}, (CheckFinding(EVIL, "error", 1, "u", "mend"),)), {"sound": False}),
    "RepairReport": (RepairReport("lake", (EVIL,)), {"damaged": [EVIL]}),
    "CrossCheck": (lf.types.CrossCheck("a", EVIL, EVIL, 3, 1, (DIFFERENCE,), None), {"agree": False}),
    "Plan": (lf.types.Plan("<b>", 10, 3, 12, 0.1, 0.2), {"rows": 10}),
    "Diagnosis": (lf.types.Diagnosis((), 0, 0.0), {"ok": True}),
    "ExportReport": (
        lf.types.ExportReport("out", "csv", (ExportedTable(EVIL, 2, 5, ("out/a.csv",)),), 5, 0.1),
        {"rows": 2},
    ),
}


@pytest.mark.parametrize(("result", "members"), RESULTS.values(), ids=RESULTS)
def test_a_result_is_text_plain_values_json_and_a_piece_of_a_page(result, members):
    data = json.loads(result.to_json())
    page = result._repr_html_()

    assert data == json.loads(json.dumps(result.to_dict()))
    assert {name: data[name] for name in members} == members
    assert page.startswith("<")
    assert "<script" not in page.replace("<b>", "<script")
    for shown in (page, str(result), repr(result)):
        assert shown.replace("\n", "").isprintable()
        assert "ERROR root" not in {line[:10] for line in shown.splitlines()}
    assert type(result).__name__ in repr(result) or repr(result) == str(result)


@pytest.mark.parametrize("as_", ["pandas", "arrow"])
def test_a_history_a_network_and_pages_show_sizes_and_places(as_, small):
    history, verdicts = lf.load_history(small, as_=as_), lf.load_verdicts(small, as_=as_)
    users, page, dso = small.ledger.list_users(), small.scan.updates(page_size=2), small.scan.dso()
    counts = ", ".join(f"{len(frame):,} {name}" for name, frame in history._asdict().items())
    source = small.settings.scan_url[0]
    assert repr(history).startswith(f"History({counts}, ledger begin to ")
    assert repr(history).endswith(f", {source})")
    assert repr(verdicts).startswith(f"Verdicts({len(verdicts.verdicts):,} verdicts, ")
    assert repr(lf.types.History(None, *history[1:])).startswith(f"History({counts.partition(', ')[2]}, ")
    assert str(small).startswith(f"<Network scan {source}, validator http")
    assert "***" not in str(small)
    assert repr(users) == f"UsersPage({len(users.users)} users, next_page_token={users.next_page_token!r})"
    assert repr(page).startswith("HistoryPage(2 items, (migration 0, 2025-")
    assert repr(dso.latest_mining_round.contract).startswith("Contract(Splice.Round:OpenMiningRound 00")
    for part in ("<td>updates</td><td>240</td>", "ledger begin to 2025", source):
        assert part in history._repr_html_()
    assert f"<td>verdicts</td><td>{len(verdicts.verdicts)}</td>" in verdicts._repr_html_()
    assert "simulated ledger" in small._repr_html_()


def test_a_network_is_shown_without_its_tokens_and_an_interface_with_its_servers():
    net = lf.connect(scan_url="https://scan.example.com/api/scan", scan_token="hush-hush", decimals="float")

    assert repr(net.scan) == "<Scan https://scan.example.com/api/scan>"
    assert repr(net.ledger) == "<Ledger not connected>"
    names = {"template_id": "1f:M:T", "contract_id": "00" * 40, "created_event_blob": "QUJD", "synchronizer_id": "s"}
    assert repr(lf.commands.DisclosedContract(**names)) == f"DisclosedContract(M:T {'00' * 8}…)"
    shown = net._repr_html_()
    for part in ("https://scan.example.com/api/scan", "not connected", "float"):
        assert part in shown
    assert "hush" not in shown + repr(net) + repr(net.settings) + repr(vars(net))


def test_a_store_is_shown_before_and_after_its_first_sync(tmp_path, small):
    store = lf.open_store(tmp_path / "<lake>")
    before = store._repr_html_()
    store.sync(small, progress=False)

    shown = store._repr_html_()

    assert "<td>updates</td><td>240</td>" in shown
    assert "its start" in shown
    assert "<lake>" not in before + shown
