"""`ledgerframes sandbox` serves until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess

import pytest

import ledgerframes as lf

LATEST = 30.0


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


def test_a_taken_port_is_wrong_input(serving, command):
    _, said = serving("--updates", "0")
    port = said["registry"].removeprefix("http://127.0.0.1:").partition("/")[0]

    ended = command("sandbox", "--port", port, "--updates", "0")

    assert (ended.code, ended.out) == (2, "")
    assert "in use" in ended.err
