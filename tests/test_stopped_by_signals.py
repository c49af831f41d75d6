"""Ctrl-C and SIGTERM at random moments: whatever the server does, a call ends, and what was whole is kept."""

import subprocess
import sys

import pytest

import ledgerframes as lf
from tests.signal_rounds import LONGEST, OF_LAKES, OPERATIONS
from tests.signalled import HOLDING, environment
from tests.store.test_sync_signals import Beyond, by_sandbox, middle  # noqa: F401 - fixtures
from tests.transport.hostile_server import HostileServer

SERVERS = {"silent": "silence", "dripping": "a byte per second", "refusing": "503"}
CASES = [(name, kind) for name in OPERATIONS for kind in SERVERS if name not in OF_LAKES or kind == "silent"]


@pytest.mark.parametrize(
    ("name", "kind", "rounds"),
    [("sync", "dripping", 8)] + [pytest.param(*case, 100, marks=pytest.mark.long) for case in CASES],
)
def test_a_signal_at_any_moment_ends_a_call(name, kind, rounds, by_sandbox, middle, tmp_path):  # noqa: F811
    with lf.sandbox(updates=400, migrations=1) as net:
        every = lf.load_updates(net)["update_id"]
        lake = lf.open_store(tmp_path / "lake")
        if name in OF_LAKES:
            lake.sync(net, progress=False)
        with HostileServer(Beyond(HOLDING[SERVERS[kind]], by_sandbox, middle)) as server:
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
            assert sorted(lake.load("updates")["update_id"]) == sorted(every)
