"""Ctrl-C and SIGTERM end a call and a command in time, whatever the server does, and what was whole is kept."""

import json
import signal
import subprocess
import sys
from functools import partial

import pytest

import ledgerframes as lf
from tests.asking import forwarded
from tests.rigs.servers import simulated
from tests.signal_rounds import LONGEST, OF_LAKES, OPERATIONS
from tests.signalled import HOLDING, Holding, assert_prompt, environment, send, send_to_another_thread, signalled
from tests.transport.hostile_server import HostileServer

PROGRAM = (sys.executable, "-m", "ledgerframes")


@pytest.fixture(scope="module")
def net():
    """A sandbox with 400 updates."""
    with simulated(updates=400, migrations=1, page_maximum=50) as net:
        yield net


class Beyond(Holding):
    """A sandbox that answers probes of one item, and keeps those waiting that ask for pages behind its middle."""

    def __init__(self, reply, net):
        super().__init__(reply)
        self._good_one = partial(forwarded, net.sandbox.scan_url)
        self._middle = json.loads(net.sandbox.world.updates[200].rendered)["record_time"]

    def __call__(self, heard):
        body = json.loads(heard.body)
        after = body.get("after")
        if body["page_size"] == 1 or after is None or not self._middle <= after["after_record_time"] < "9":
            return self._good_one(heard)
        return super().__call__(heard)


BY_THREAD = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: the signal goes to one thread")


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("follow", "number", "send"),
    [
        pytest.param(False, signal.SIGINT, send_to_another_thread, marks=BY_THREAD, id="sync-another thread"),
        pytest.param(True, signal.SIGTERM, send, id="follow-SIGTERM"),
        pytest.param(False, signal.SIGTERM, send, id="sync-SIGTERM"),
        pytest.param(True, signal.SIGINT, send, id="follow-SIGINT"),
        pytest.param(False, signal.SIGINT, send, id="sync-SIGINT"),
    ],
)
def test_what_was_whole_at_a_signal_is_in_the_lake(follow, number, send, net, tmp_path):
    holding = Beyond(HOLDING["silence"], net)
    with HostileServer(holding) as server:
        command = [*PROGRAM, "sync", "lake", "--workers", "1", *["--follow"] * follow, "--scan-url", server.url]
        ended = signalled(command, number, holding, send=send, cwd=tmp_path, env=environment(tmp_path))
    if follow:  # a signal is how it is meant to end
        assert (ended.code, ended.err.splitlines()[-1]) == (0, "ended")
        ended = ended._replace(code=128 + number)
    assert_prompt(ended, number)
    lake = lf.open_store(tmp_path / "lake")
    assert lake.check()
    assert 100 <= len(lake.load("updates", allow_partial=True)) < 400


SERVERS = {"silent": "silence", "dripping": "a byte per second", "refusing": "503"}
MOMENTS = [(name, kind) for name in OPERATIONS for kind in SERVERS if name not in OF_LAKES or kind == "silent"]


@pytest.mark.parametrize(
    ("name", "kind", "rounds"),
    [("sync", "dripping", 8)] + [pytest.param(*case, 100, marks=pytest.mark.long) for case in MOMENTS],
)
def test_a_signal_at_any_moment_ends_a_call(name, kind, rounds, net, tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    if name in OF_LAKES:
        lake.sync(net, progress=False)
    with HostileServer(Beyond(HOLDING[SERVERS[kind]], net)) as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.signal_rounds", name, server.url, str(tmp_path), str(rounds), "3"],
            check=False, capture_output=True, text=True, timeout=600,
            env={**environment(tmp_path), "PYTHONWARNINGS": ""},  # an import that is broken off leaves a file open
        )  # fmt: skip
    assert done.returncode == 0, done
    ended, longest = done.stdout.split()[-2:]
    assert int(ended) == rounds
    assert float(longest) < LONGEST
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if name != "load":
        if (tmp_path / "lake" / "updates").exists():  # a signal may come before anything was committed
            assert lake.check(full=True)
        lake.sync(net, progress=False)
        assert lake.check(full=True)
        assert sorted(lake.load("updates")["update_id"]) == sorted(lf.load_updates(net)["update_id"])


KINDS = [(signal.SIGINT, kind) for kind in HOLDING] + [(signal.SIGTERM, "silence")]


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("number", "kind"), KINDS, ids=[f"{number.name} at {kind}" for number, kind in KINDS])
@pytest.mark.parametrize("words", ["plan", "load history -o out", "load licenses -o out"])
def test_a_signal_ends_a_command(number, kind, words, tmp_path):
    holding = Holding(HOLDING[kind])
    with HostileServer(holding) as server:
        command = [*PROGRAM, *words.split(), "--scan-url", server.url]
        ended = signalled(command, number, holding, cwd=tmp_path, env=environment(tmp_path))
    assert_prompt(ended, number)
    assert ended.err.splitlines()[-1].startswith("ended by a signal before it was done")
