"""Ctrl-C and SIGTERM end a command in time, whatever the server does."""

import signal

import pytest

from tests.signalled import HOLDING, Holding, assert_prompt, environment, signalled
from tests.transport.hostile_server import HostileServer

CASES = [(signal.SIGINT, kind) for kind in HOLDING] + [(signal.SIGTERM, "silence")]


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("number", "kind"), CASES, ids=[f"{number.name} at {kind}" for number, kind in CASES])
@pytest.mark.parametrize("words", ["plan", "load history -o out", "load licenses -o out"])
def test_a_signal_ends_a_command(number, kind, words, program, tmp_path):
    holding = Holding(HOLDING[kind])
    with HostileServer(holding) as server:
        command = [*program, *words.split(), "--scan-url", server.url]
        ended = signalled(command, number, holding, cwd=tmp_path, env=environment(tmp_path))
    assert_prompt(ended, number)
    assert ended.err.splitlines()[-1].startswith("ended by a signal before it was done")
