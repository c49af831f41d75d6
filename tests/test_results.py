"""What long operations return shows itself alike: as text, as plain values, as JSON and in notebooks."""

import json

import pytest

import ledgerframes as lf
from ledgerframes.export.report import ExportedTable
from ledgerframes.loaders.cross_check import Difference
from ledgerframes.store.checks.check import Check, CheckFinding
from ledgerframes.store.checks.repair import RepairReport

#: A colour, a window's title, a C1 escape, a faked line, a turned direction, and script.
HOSTILE = "\x1b[31m\x1b]0;owned\x07\x9b2J\nERROR root: faked\u202egpj<script>alert(1)</script>"
DIFFERENCE = Difference(HOSTILE, 1, *[HOSTILE] * 5)
RESULTS = {
    "SyncReport": (
        lf.types.SyncReport("s", "2026-01-01T00:00:00Z", covered=(HOSTILE,), error=HOSTILE),
        {"covered": [HOSTILE]},
    ),
    "Check": (Check("lake", {}, (CheckFinding(HOSTILE, "error", 1, "u", "mend"),)), {"sound": False}),
    "RepairReport": (RepairReport("lake", (HOSTILE,)), {"damaged": [HOSTILE]}),
    "CrossCheck": (lf.types.CrossCheck("a", HOSTILE, HOSTILE, 3, 1, (DIFFERENCE,), None), {"agree": False}),
    "Plan": (lf.types.Plan("<b>", 10, 3, 12, 0.1, 0.2), {"rows": 10}),
    "Diagnosis": (lf.types.Diagnosis((), 0, 0.0), {"ok": True}),
    "ExportReport": (
        lf.types.ExportReport("out", "csv", (ExportedTable(HOSTILE, 2, 5, ("out/a.csv",)),), 5, 0.1),
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
def test_a_history_a_network_and_pages_show_sizes_and_places(as_):
    with lf.sandbox(updates=50) as net:
        history, verdicts = lf.load_history(net, as_=as_), lf.load_verdicts(net, as_=as_)
        users, page, dso = net.ledger.list_users(), net.scan.updates(page_size=2), net.scan.dso()
    counts = ", ".join(f"{len(frame):,} {name}" for name, frame in history._asdict().items())
    source = net.settings.scan_url[0]
    assert repr(history).startswith(f"History({counts}, ledger begin to ")
    assert repr(history).endswith(f", {source})")
    assert repr(verdicts).startswith(f"Verdicts({len(verdicts.verdicts):,} verdicts, ")
    assert repr(lf.types.History(None, *history[1:])).startswith(f"History({counts.partition(', ')[2]}, ")
    assert str(net).startswith(f"<Network scan {source}, validator http")
    assert "***" not in str(net)
    assert repr(users) == f"UsersPage({len(users.users)} users, next_page_token={users.next_page_token!r})"
    assert repr(page).startswith("HistoryPage(2 items, (migration 0, 2025-")
    assert repr(dso.latest_mining_round.contract).startswith("Contract(Splice.Round:OpenMiningRound 00")
    for part in ("<td>updates</td><td>50</td>", "ledger begin to 2025", source):
        assert part in history._repr_html_()
    assert f"<td>verdicts</td><td>{len(verdicts.verdicts)}</td>" in verdicts._repr_html_()
    assert "simulated ledger" in net._repr_html_()


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


def test_a_store_is_shown_before_and_after_its_first_sync(tmp_path):
    store = lf.open_store(tmp_path / "<lake>")
    before = store._repr_html_()
    with lf.sandbox(updates=50) as net:
        store.sync(net, progress=False)

    shown = store._repr_html_()

    assert "<td>updates</td><td>50</td>" in shown
    assert "its start" in shown
    assert "<lake>" not in before + shown
