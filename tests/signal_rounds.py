"""A program that sends signals to itself at random moments of an operation, again and again, for the tests of signals.

python -m tests.signal_rounds OPERATION URL FOLDER ROUNDS SEED
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import ledgerframes as lf
from ledgerframes.cli.app import main
from ledgerframes.store.derive.tables import DERIVABLE
from ledgerframes.threads import spawn

#: Seconds within which an operation has ended after a signal, on a machine that has nothing else to do.
LONGEST = 2.0
#: Signals come within so many seconds of an operation's beginning.
_SPREAD = 0.6


def load(url: str, folder: Path) -> None:
    """Load what a silent server keeps back."""
    del folder
    with lf.connect(scan_url=url) as net:
        lf.load_history(net, start="begin", page_size=50)


def sync(url: str, folder: Path) -> None:
    """Bring a lake up to date."""
    with lf.connect(scan_url=url) as net:
        lf.open_store(folder / "lake").sync(net, page_size=50, workers=2, progress=False)


def follow(url: str, folder: Path) -> None:
    """The same for ever."""
    with lf.connect(scan_url=url) as net:
        for _ in lf.open_store(folder / "lake").follow(net, every="1s", page_size=50, workers=1, progress=False):
            pass


def report(url: str, folder: Path) -> None:
    """Write reports of a lake, which asks no server."""
    del url
    while True:
        lf.report(lf.open_store(folder / "lake"), folder / "report.html", overwrite=True)


def derive(url: str, folder: Path) -> None:
    """Compute all tables that a copy of a lake can keep, again and again; each copy is sound when its derive ended."""
    del url
    place, copied = folder / "derived", folder / "copied"
    while True:
        assert not copied.exists() or lf.open_store(place).check(full=True)
        copied.unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder / "lake", place)
        copied.touch()
        lf.open_store(place).derive(DERIVABLE)


def star(url: str, folder: Path) -> None:
    """Export stars of a lake, each of which is there whole or not at all."""
    del url
    model = folder / "star" / "model.json"
    while True:
        tables = json.loads(model.read_text(encoding="utf-8"))["tables"] if model.exists() else []
        assert all((model.parent / table["file"]).exists() for table in tables)
        lf.open_store(folder / "lake").export(folder / "star", model="star", overwrite=True)


def cli(url: str, folder: Path) -> None:
    """A sync by the command line."""
    sys.argv = ["ledgerframes", "sync", str(folder / "lake"), "--scan-url", url]
    main()


OPERATIONS = {operation.__name__: operation for operation in (load, sync, follow, report, derive, star, cli)}
#: Those that ask no server.
OF_LAKES = ("report", "derive", "star")


def seconds_to_end(call: Callable[[], None], number: signal.Signals, after: float) -> float:
    """Send a signal while a call runs; returns how long it went on."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), number)

    try:
        spawn(send, "sender")
        call()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    except SystemExit as error:
        if error.code != 128 + number:
            raise
        return time.monotonic() - sent[0]
    raise AssertionError("the call returned")


def import_all(name: str, folder: Path) -> None:
    """Have every module imported: a signal within an import is Python's, which leaves files open and says so."""
    with lf.sandbox(updates=60) as net:
        lake = lf.open_store(folder / "first")
        lake.sync(net, page_size=50, progress=False)
        lf.load_history(net, start="begin")
    if name in OF_LAKES:
        lf.report(lake, folder / "first.html")
        lake.derive(DERIVABLE)
        lake.export(folder / "first", model="star")


def left_over() -> list[str]:
    """The threads of the package that still run after a moment."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        names = [thread.name for thread in threading.enumerate() if thread.name.startswith("ledgerframes-")]
        if not names:
            return []
        time.sleep(0.05)
    return names


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    name, url, folder, rounds, seed = sys.argv[1:]
    import_all(name, Path(folder))
    chance = random.Random(int(seed))
    took = []
    for round_ in range(int(rounds)):
        number = (signal.SIGINT, signal.SIGTERM)[round_ % 2]
        call = OPERATIONS[name]
        took.append(seconds_to_end(lambda: call(url, Path(folder)), number, chance.uniform(0, _SPREAD)))  # noqa: B023
        assert not (names := left_over()), (round_, names)
    print(len(took), max(took))
