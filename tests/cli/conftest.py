"""A scan to ask, and the command line run as a program and in this process."""

import os
import sys
from typing import NamedTuple

import pytest

import ledgerframes as lf
from ledgerframes.cli import main

TOKEN = "sesame-0f3a9c"
NAMED = ("LEDGERFRAMES_TOKEN", "LEDGERFRAMES_SCAN_TOKEN")
KEPT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "COVERAGE_PROCESS_START")


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def scan():
    """The address of a scan with 300 updates."""
    with lf.sandbox(seed=7, updates=300) as net:
        yield net.sandbox.scan_url


@pytest.fixture(scope="session")
def lake(tmp_path_factory, scan):
    """A lake of that scan."""
    place = tmp_path_factory.mktemp("lakes") / "lake"
    lf.open_store(place).sync(lf.connect(scan_url=scan))
    return place


@pytest.fixture
def program():
    """How the program is started, installed or not."""
    return sys.executable, "-m", "ledgerframes"


@pytest.fixture
def surroundings(tmp_path):
    """The variables of a user with an empty home and a token."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    named = dict.fromkeys(NAMED, TOKEN)
    return {**kept, **named, "HOME": str(tmp_path / "home"), "PYTHONWARNINGS": "error", "COLUMNS": "200"}


@pytest.fixture
def command(surroundings, tmp_path, monkeypatch, capsys):
    """Runs a command in this process, in an empty folder, without the second that a program takes to start."""
    for name in [name for name in os.environ if name.startswith("LEDGERFRAMES_")]:
        monkeypatch.delenv(name)
    for name in (*NAMED, "HOME", "COLUMNS"):
        monkeypatch.setenv(name, surroundings[name])
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, **variables: str) -> Ended:
        with monkeypatch.context() as changed:
            for name, value in variables.items():
                changed.setenv(name, value)
            changed.setattr(sys, "argv", ["ledgerframes", *map(str, arguments)])
            with pytest.raises(SystemExit) as ended:
                main()
        code = ended.value.code
        captured = capsys.readouterr()
        assert TOKEN not in captured.out + captured.err
        return Ended(code if isinstance(code, int) else 1, captured.out, captured.err)

    return run
