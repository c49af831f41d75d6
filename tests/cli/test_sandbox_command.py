"""`ledgerframes sandbox` serves until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pandas as pd
import pytest

import ledgerframes as lf
from tests.signalled import send_to_another_thread

LATEST = 300.0


@pytest.fixture
def serving(surroundings, program):
    """Starts the command and gives the process with the addresses and the token it printed."""
    running = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
        process = subprocess.Popen(
            [*program, "sandbox", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings,
        )  # fmt: skip
        running.append(process)
        said = dict(process.stdout.readline().split() for _ in range(5))
        assert list(said) == ["scan", "validator", "registry", "ledger", "token"]
        return process, said

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_it_serves_the_ledger_of_its_seed_and_ends_well_at_an_interrupt(serving):
    process, said = serving("--port", "0", "--seed", "3", "--updates", "40")

    with lf.connect(ledger_url=said["ledger"], token=said["token"]) as net:
        assert len(lf.load_users(net)) > 0
    with lf.connect(scan_url=said["scan"]) as net, lf.sandbox(seed=3, updates=40) as same:
        assert lf.load_updates(net).update_id.tolist() == lf.load_updates(same).update_id.tolist()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LATEST)
    assert (process.returncode, out) == (0, "")
    assert err.splitlines() == ["Ctrl-C ends it.", "ended"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends a signal to a thread of another process")
def test_it_ends_at_an_interrupt_that_another_thread_receives(serving):
    process, _ = serving("--port", "0", "--updates", "5")
    assert process.stderr.readline() == "Ctrl-C ends it.\n"
    send_to_another_thread(process, signal.SIGINT)
    _, err = process.communicate(timeout=LATEST)
    assert (process.returncode, err) == (0, "ended\n")


@pytest.mark.long
def test_it_serves_a_history_of_as_many_days_as_are_asked_for(serving):
    _, said = serving("--days", "2", "--seed", "3")

    with lf.connect(scan_url=said["scan"]) as net, lf.sandbox(days=2, seed=3) as same:
        served, made = (lf.load_updates(one, start="begin", progress=False) for one in (net, same))
    assert served.update_id.tolist() == made.update_id.tolist()
    spanned = served.record_time.max() - served.record_time.min()
    assert abs(spanned - pd.Timedelta(days=2)) < pd.Timedelta(hours=1)


@pytest.mark.long
def test_a_ledger_that_lives_is_kept_at_the_end_and_served_again(serving, tmp_path):
    file = tmp_path / "world.db"
    process, said = serving("--updates", "30", "--live", "400/s", "--save", str(file))
    with lf.connect(scan_url=said["scan"]) as net:
        while len(seen := lf.load_updates(net, limit=50, progress=False)) <= 40:
            pass
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LATEST)
    assert (process.returncode, err.splitlines()) == (0, ["Ctrl-C ends it.", "ended", f"kept in {file}"])

    _, said = serving("--load", str(file))

    with lf.connect(scan_url=said["scan"]) as net:
        kept = lf.load_updates(net, limit=50, progress=False)
    assert kept.update_id.tolist()[: len(seen)] == seen.update_id.tolist()
    assert len(kept) >= len(seen) > 40


def test_it_serves_as_the_release_that_is_asked_for(serving):
    _, said = serving("--updates", "5", "--release", "0.9")

    with lf.connect(scan_url=said["scan"]) as net:
        first = lf.load_updates(net, limit=1, progress=False).update_id[0]
        assert net.scan.update_by_id(first).item.update_id == first
    assert asked(f"{said['scan']}/v1/updates/{first}") == 404
    assert asked(f"{said['scan']}/v2/updates/{first}") == 200


def test_it_serves_with_the_faults_that_are_asked_for(serving):
    _, said = serving("--updates", "5", "--faults", "429:0.5,latency:1ms")

    statuses = {asked(said["scan"] + "/v0/admin/validator/licenses") for _ in range(40)}

    assert statuses == {200, 429}


def asked(url: str) -> int:
    """The status of an answer."""
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_taken_port_is_wrong_input(serving, command):
    _, said = serving("--updates", "0")
    port = said["registry"].removeprefix("http://127.0.0.1:").partition("/")[0]

    ended = command("sandbox", "--port", port, "--updates", "0")

    assert (ended.code, ended.out) == (2, "")
    assert "in use" in ended.err
