"""Progress: a bar where somebody looks, log lines elsewhere, nothing when told so."""

import logging
import re

import pytest

import ledgerframes as lf
from ledgerframes.loaders.progress import progress_of
from ledgerframes.paging.cursor import Cursor, wanted_window
from ledgerframes.sandbox.faults import Faults
from ledgerframes.timestamps import to_micros


def test_elsewhere_there_are_log_lines_now_and_then(caplog, capsys):
    moments = iter([0.0, 1.0, 31.0, 32.0, 62.0])
    with (
        caplog.at_level(logging.INFO, "ledgerframes"),
        progress_of("x", shown=None, clock=lambda: next(moments)) as bar,
    ):
        bar.advance(10, "2026-01-01")
        bar.advance(5, "2026-01-02")
        bar.advance(5, "2026-01-03")
        bar.advance(5, "2026-01-04", 0.1)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["x: 15 so far, at 2026-01-02", "x: 25 so far (10%, 9 minutes left), at 2026-01-04"]
    assert capsys.readouterr().err == ""


def test_a_load_that_fails_takes_its_bar_away(net, capsys):
    with net.sandbox.replica(faults=Faults.parse("500:1.0", seed=1)) as server, pytest.raises(lf.errors.RequestError):
        lf.load_updates(lf.connect(scan_url=server.scan_url), page_size=10, progress=True)
    assert capsys.readouterr().err.endswith("\r")


def test_a_bar_on_standard_error_shows_percent_of_a_range_and_what_remains(net, capsys):
    times = lf.load_updates(net, progress=False).record_time
    assert (*capsys.readouterr(),) == ("", "")
    with net.sandbox.replica(latency=0.03) as slow:  # a bar is drawn ten times per second at most
        scan = lf.connect(scan_url=slow.scan_url)
        lf.load_updates(scan, start=times.iloc[0], end=times.iloc[-1], page_size=100, progress=True)

    shown = capsys.readouterr()

    assert "history" in shown.err
    assert re.search(r"\d%\|[^\r]*/[^\r]*<\d\d:\d\d", shown.err)
    assert shown.out == ""


@pytest.mark.parametrize(
    ("start", "end", "at", "share"),
    [
        ("2026-01-01", "2026-01-11", "2026-01-06", 0.5),
        ("2026-01-01", None, "2026-01-02", 0.05),
        ((4, "2026-01-01"), (4, "2026-01-11"), "2026-02-01", 1.0),
        ((3, "2026-01-01"), (4, "2026-01-11"), "2026-01-02", None),
        ("begin", "2026-01-11", "2026-01-02", None),
    ],
)
def test_the_share_of_a_range_is_that_of_its_time(start, end, at, share):
    place = Cursor(4, to_micros(at, "at"))
    assert wanted_window(start, end).share_before(place, now=to_micros("2026-01-21", "now")) == share
