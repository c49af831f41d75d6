"""Ctrl-C and SIGTERM end a sync in time, whatever the server does, and what was whole is in the lake."""

import json
import signal
import sys
from functools import partial

import pytest

import ledgerframes as lf
from tests.asking import forwarded
from tests.rigs.servers import simulated
from tests.signalled import HOLDING, Holding, assert_prompt, environment, send, send_to_another_thread, signalled
from tests.transport.hostile_server import HostileServer

PROGRAM = (sys.executable, "-m", "ledgerframes")


@pytest.fixture(scope="module")
def by_sandbox():
    """Answers as a sandbox with 400 updates does."""
    with simulated(updates=400, migrations=1, page_maximum=50) as net:
        yield partial(forwarded, net.sandbox.scan_url)


@pytest.fixture(scope="module")
def middle():
    """The record time in the middle of that history."""
    with lf.sandbox(updates=400, migrations=1) as net:
        return json.loads(net.sandbox.world.updates[200].rendered)["record_time"]


class Beyond(Holding):
    """Keeps those waiting that ask for pages behind the middle of the history; it answers probes of one item."""

    def __init__(self, reply, good, middle):
        super().__init__(reply)
        self._good_one = good
        self._middle = middle

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
def test_what_was_whole_at_a_signal_is_in_the_lake(follow, number, send, by_sandbox, middle, tmp_path):
    holding = Beyond(HOLDING["silence"], by_sandbox, middle)
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
