"""How commands fail: 2 for wrong input, 1 for a failed request, one line on standard error, never a traceback."""

import re
import shlex
import socket
import subprocess
from pathlib import Path

import pytest

import ledgerframes as lf

#: What is typed, and what the one line on standard error says.
WRONG = {
    "load parties -o lake --scan-url URL": "TABLE='parties' is not valid: did you mean 'updates'?",
    "load history -o lake --scan-url URL --start yesterday": "--start 'yesterday' is not a time: write 20",
    "load history -o lake --scan-url URL --last week": "--last 'week' is not valid: give a duration",
    "plan --scan-url URL --start 2025-02-01 --end 2025-01-01": "is not after --start",
    "load history -o lake": "no scan server is known",
    "migrations --scan-url scan": "--scan-url 'scan' does not start with http",
    "load history -o lake --scan-url URL --limit 0": "--limit 0 is not valid: give a whole number",
    "plan --profile nowhere": "no table [profiles.nowhere]",
    "sandbox --faults gremlins:0.5": "'gremlins",
    "sandbox --load gone.db": "there is no file 'gone.db'",
    "sandbox --load gone.db --updates 2000": "--updates does not apply together with --load",
    "sandbox --save taken/world.db": "not a writable folder",
    "model nosuch": "there is no model 'nosuch'; ledgerframes model lists them",
    "load licenses -o x.csv --party a::b --scan-url URL": "--party does not apply to licenses",
    "sync lake --tables= --scan-url URL": "tables: item 0 is ''",
    "load holdings_summary -o x.csv --scan-url URL": "holdings_summary needs --party",
    "load history -o x --columns a --scan-url URL": "--columns does not apply to history",
    "load history -o x.csv --scan-url URL": "history is several tables",
    "load updates -o x.txt --scan-url URL": "give a file ending in .parquet, .csv, .json, .xlsx",
    f"load updates -o {'x' * 300}.csv --scan-url URL": "cannot write",
    "report LAKE -o taken/report.html": "'taken' is not a writable folder",
    "describe license": "did you mean 'licenses'",
    "sql LAKE \udce9": "give one SELECT statement as text, in Unicode",
    "coverage nowhere": "is not a lake yet",
    "compact .": "'.' is not a lake yet",
    "sync lake --every often --follow --scan-url URL": "--every 'often' is",
    "sync lake --every 5s": "--every says how often --follow syncs",
    "sync lake --tables holdings_summary --scan-url URL": "; give --party\n",
    "derive LAKE reward": "did you mean 'rewards'",
    "derive LAKE supply": "ledgerframes supply LAKE",
    "plot rewrds LAKE": "did you mean 'rewards'?",
    "plot reassignment-flows LAKE -o x.gif": "ends in .png, .svg, .pdf",
    "plot holdings LAKE --events votes": "--events does not apply to holdings",
    "plot reassignment-flows LAKE --theme pink": "--theme 'pink'",
    "active_parties LAKE --every 7": 'give a duration such as "30min", "1h" or "7d"\n',
    "votes LAKE --at 2025-03-03": "--at does not apply to votes",
    "coverage LAKE --as-of never": "a sync's id or the number of a document\n",
    "movements LAKE --party alice": "such as 'alice::1220…'; without --party the table has all",
    "movements LAKE --party a::1 --party b::1": "movements is of one --party",
    "compute active-contracts LAKE": 'ledgerframes sql LAKE "from active_contracts"',
    "compute rewards LAKE -o - --json": "leave out --json or --csv",
    "export LAKE out --for powerbi": "--for='powerbi' is not valid: give 'bi'",
    "export LAKE out --model star --tables updates": "leave --tables out, or leave --model out",
    "flows LAKE --start 01/02/2026": "is not a time: write 2026-02-01 or 2026-01-02",
    "rewards LAKE --json --csv": "two forms of one output",
}


@pytest.fixture
def closed_port():
    """A loopback port that nobody listens on: it is bound, so that nobody else can take it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize(("line", "reason"), WRONG.items(), ids=[line[:60] for line in WRONG])
def test_wrong_input_is_told_in_one_line(command, scan, lake, tmp_path, line, reason):
    (tmp_path / "taken").write_text("a file where a folder should be")

    ended = command(*line.replace("URL", scan).replace("LAKE", str(lake)).split())

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert reason in ended.err.replace(str(lake), "LAKE").replace(f"{tmp_path}/", "")
    assert ended.err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} - {"home"} == {"taken"}  # matplotlib keeps a folder there


@pytest.mark.parametrize(
    "line",
    ["load history", "report", "load history -o lake --limit many", "plan --limit 3", "fetch", "template_activities x"],
    ids=["option missing", "argument missing", "no number", "unknown option", "unknown command", "unknown table"],
)
def test_wrong_usage_ends_with_2(command, line):
    ended = command(*line.split())

    assert (ended.code, ended.out) == (2, "")
    assert "Usage:" in ended.err
    assert not re.search(r"\{[a-z]", ended.err), "an argument goes by the word that --help shows"
    assert "Traceback" not in ended.err


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("options", [["--json"], []])
def test_a_full_disk_behind_standard_output_is_told_in_one_line(program, surroundings, tmp_path, options):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*program, "tables", *options], check=False, stdout=full, stderr=subprocess.PIPE, text=True,
            timeout=300, cwd=tmp_path, env=surroundings,
        )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (
        1, "error: standard output cannot be written: No space left on device\n"
    )  # fmt: skip


def test_a_full_disk_below_a_chart_names_its_file(command, lake):
    """A limit on the size of files stands for the full disk."""
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        ended = command("plot", "updates", lake, "-o", "x.png")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (ended.code, ended.err.partition(" [")[0]) == (2, "error: cannot write 'x.png':")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_is_one_that_nobody_reads(program, surroundings, tmp_path, closed):
    line = f"{shlex.join(program)} tables {closed} | cat"

    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], check=False, capture_output=True, text=True,
        timeout=300, cwd=tmp_path, env=surroundings,
    )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("table ") == (closed == "2>&-")


def test_a_refused_connection_or_an_address_without_the_interface_is_a_failed_request_that_leaves_nothing(
    command, scan, closed_port, tmp_path
):
    elsewhere = command("load", "history", "-o", "lake", "--scan-url", scan.removesuffix("/api/scan"))
    assert (elsewhere.code, elsewhere.out) == (1, "")
    assert "answered 404" in elsewhere.err
    assert "prefix such as /api/scan" in elsewhere.err
    assert list(tmp_path.iterdir()) == []
    url = f"http://127.0.0.1:{closed_port}/api/scan"

    ended = command("--verbose", "migrations", "--scan-url", url, LEDGERFRAMES_ATTEMPTS="2", LEDGERFRAMES_BUDGET="5")

    assert (ended.code, ended.out) == (1, "")
    assert "Traceback" not in ended.err
    last = ended.err.splitlines()[-1]
    assert last.startswith("error: POST /v2/updates")
    assert str(closed_port) in last
    examined = command("doctor", "--scan-url", url, LEDGERFRAMES_ATTEMPTS="1")
    assert (examined.code, "-> check --scan-url" in examined.out, "_url=" in examined.out) == (1, True, False)
    (tmp_path / "there").mkdir()
    for place in ("new/lake", "there"):
        ended = command("sync", place, "--scan-url", url, LEDGERFRAMES_ATTEMPTS="1")
        assert (ended.code, ended.out) == (1, "")
        assert [path.name for path in tmp_path.rglob("*")] == ["there"]


@pytest.mark.filterwarnings("always")
def test_where_a_pruned_scan_begins_is_named_as_it_can_be_typed_and_a_warning_is_one_line(command):
    with lf.sandbox(seed=7, updates=300, prune_before="2025-03-03T09:40") as net:
        scan = ("--scan-url", net.sandbox.scan_url)
        refused = command("load", "updates", "-o", "u.csv", "--start", "begin", *scan)
        start = re.search(r"Give --start (\S+) or later", refused.err)
        loaded = command("load", "updates", "-o", "u.csv", "--start", start[1], *scan)
        synced = command("sync", "lake", "--start", "begin", *scan)
        warned = command("load", "updates", "-o", "late.csv", *scan)

    assert (refused.code, loaded.code, warned.code) == (1, 0, 0)
    assert re.fullmatch(r"warning: .* begins at .*, after ledger begin: .*\n", warned.err)
    assert "bulk objects may have older updates (source='objects' in Python)" in synced.err
