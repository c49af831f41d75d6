"""What long operations return shows itself alike: as text, as plain values, as JSON and in notebooks."""

from __future__ import annotations

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


def test_a_sync_report_has_a_line_for_each_migration():
    covered = tuple(f"migration {number} from its start up to 2025-03-03T15:55:40.433049Z" for number in range(3))
    report = lf.types.SyncReport("s", "2026-01-01T00:00:00Z", covered=covered)

    lines = str(report).splitlines()
    place = lines.index(f"covered  {covered[0]}")
    assert lines[place + 1 : place + 3] == [f"{'':<8} {text}" for text in covered[1:]]
    assert "covered  nothing yet" in str(lf.types.SyncReport("s", "2026-01-01T00:00:00Z"))


def test_a_plan_has_a_line_for_each_figure():
    begin = "2025-03-03T09:00:24.887782Z"
    known = lf.types.Plan("ledger begin to 2025-03-03T14:13:21.427710Z", 1707, 17, 14, 12.4, 0.2)
    late = lf.types.Plan("the first update there is to 2025-03-04T00:00:00Z", 90_000, 90, 120, 812.5, 12.25, begin)

    assert str(known).splitlines() == [
        "range    ledger begin to 2025-03-03T14:13:21.427710Z",
        "size     about 1,707 updates, 12.4 MB",
        "cost     about 17 requests by load_history, in under a minute; about 14 by store.sync",
    ]
    assert str(late).splitlines()[2:] == [
        "cost     about 90 requests by load_history, in 12.2 minutes; about 120 by store.sync",
        f"begins   late, at {begin}",
    ]
    assert repr(known) == f"<Plan\n{known}>"


@pytest.mark.parametrize("as_", ["pandas", "arrow"])
def test_a_history_and_a_network_are_a_line_each(as_):
    with lf.sandbox(updates=20) as net:
        history = lf.load_history(net, as_=as_)
        verdicts = lf.load_verdicts(net, as_=as_)
    counts = ", ".join(f"{len(frame):,} {name}" for name, frame in history._asdict().items())
    source = net.settings.scan_url[0]
    assert repr(history).startswith(f"History({counts}, ledger begin to ")
    assert repr(history).endswith(f", {source})")
    assert repr(verdicts).startswith(f"Verdicts({len(verdicts.verdicts):,} verdicts, ")
    assert source in history._repr_html_()
    legs = lf.types.History(None, *history[1:])
    assert repr(legs).startswith(f"History({counts.partition(', ')[2]}, ")
    assert str(net).startswith(f"<Network scan {source}, validator http")
    assert "***" not in str(net)
