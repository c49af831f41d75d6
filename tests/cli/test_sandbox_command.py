"""`ledgerframes sandbox` serves until Ctrl-C."""

import signal
import subprocess
import sys

import pytest

import ledgerframes as lf
from tests.sandbox.asking import ask
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


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("length", "count"), [("updates", 40), ("days", 2)])
def test_it_serves_the_ledger_of_its_seed_length_and_release_and_ends_well_at_an_interrupt(serving, length, count):
    process, said = serving("--port", "0", "--seed", "3", f"--{length}", str(count), "--release", "0.9")

    with lf.connect(ledger_url=said["ledger"], token=said["token"]) as net:
        assert len(lf.load_users(net)) > 0
    with lf.connect(scan_url=said["scan"]) as net, lf.sandbox(seed=3, **{length: count}) as same:
        served = lf.load_updates(net, start="begin", progress=False).update_id.tolist()
        assert served == lf.load_updates(same, start="begin", progress=False).update_id.tolist()
    assert [ask(f"{said['scan']}/{version}/updates/{served[0]}").status for version in ("v1", "v2")] == [404, 200]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LATEST)
    assert (process.returncode, out) == (0, "")
    assert err.splitlines() == ["Ctrl-C ends it.", "ended"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends a signal to a thread of another process")
def test_it_has_its_faults_and_its_port_and_ends_at_an_interrupt_that_another_thread_receives(serving, command):
    process, said = serving("--port", "0", "--updates", "5", "--faults", "429:0.5,latency:1ms")
    assert process.stderr.readline() == "Ctrl-C ends it.\n"
    assert {ask(said["scan"] + "/v0/admin/validator/licenses").status for _ in range(40)} == {200, 429}
    port = said["registry"].removeprefix("http://127.0.0.1:").partition("/")[0]
    taken = command("sandbox", "--port", port, "--updates", "0")
    assert (taken.code, taken.out, "in use" in taken.err) == (2, "", True)

    send_to_another_thread(process, signal.SIGINT)

    _, err = process.communicate(timeout=LATEST)
    assert (process.returncode, err) == (0, "ended\n")


@pytest.mark.long
def test_a_ledger_that_lives_is_kept_at_the_end_and_served_again(serving, tmp_path):
    file = tmp_path / "made" / "world.db"
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
