"""Programs that are sent a signal while a server keeps them waiting."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.transport.hostile_server import Heard, Reply, answer

#: How a server can keep a client waiting; each for minutes.
HOLDING = {
    "silence": Reply(body=b"x" * 9, drip=60.0, drip_head=True),
    "a byte per second": Reply(body=b"x" * 900, drip=1.0),
    "429 with minutes of Retry-After": answer({}, 429, Retry_After="250"),
    "503": answer({"error": "busy"}, 503, Retry_After="40"),
}

#: Two seconds on a machine that has nothing else to do; the interpreter's own end takes a good part of them.
LONGEST = 4.0
#: On a busy one, this many times what a program takes that does nothing but start and end.
STARTS = 6


class Ended(NamedTuple):
    """How a program ended."""

    code: int
    seconds: float
    out: str
    err: str


class Holding:
    """Answers the first requests by another server, and keeps all later ones waiting.

    Args:
        reply: what they get.
        good: answers the first ones.
        count: how many those are.
    """

    def __init__(self, reply: Reply, good: Callable[[Heard], Reply] | None = None, count: int = 0) -> None:
        self._reply = reply
        self._good = good
        self._left = count
        self._lock = threading.Lock()
        self.waiting = threading.Event()

    def __call__(self, heard: Heard) -> Reply:
        with self._lock:
            self._left -= 1
            good = self._good if self._left >= 0 else None
        if good is not None:
            return good(heard)
        self.waiting.set()
        return self._reply


def send(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal, which the system usually hands to the main thread."""
    process.send_signal(number)


def send_to_another_thread(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to a thread that is not the main one, which goes on waiting; of Linux alone."""
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        blocked = next(line for line in (task / "status").read_text().splitlines() if line.startswith("SigBlk"))
        if task.name != str(process.pid) and not int(blocked.split()[1], 16):
            assert ctypes.CDLL(None).tgkill(process.pid, int(task.name), number) == 0
            return
    raise AssertionError("there is no other thread")


def signalled(
    command: Sequence[object],
    number: signal.Signals,
    holding: Holding,
    *,
    send: Callable[[subprocess.Popen[str], signal.Signals], None] = send,
    **options: object,
) -> Ended:
    """Start a program, send it a signal once a server keeps it waiting, and see it end."""
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )  # type: ignore[call-overload]
    try:
        assert holding.waiting.wait(60), "the program asked for nothing"
        began = time.monotonic()
        send(process, number)
        out, err = process.communicate(timeout=30)
        return Ended(process.returncode, time.monotonic() - began, out, err)
    finally:
        process.kill()
        process.communicate()


def assert_prompt(ended: Ended, number: signal.Signals) -> None:
    """It ended in time, by the code that shells have for it, and showed nothing of its inside."""
    assert ended.code == 128 + number, ended
    if ended.seconds >= LONGEST:
        assert ended.seconds < STARTS * _start(), ended
    assert "Traceback" not in ended.err
    assert "Bad file descriptor" not in ended.err
    assert "Exception ignored" not in ended.err


def _start() -> float:
    """Seconds that the smallest program takes at the moment."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import ledgerframes.cli.app"], check=True)
    return time.monotonic() - began


def environment(folder: object) -> Mapping[str, str]:
    """The variables of a user with an empty home."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(folder), "PYTHONWARNINGS": "error", "PYTHONPATH": str(Path.cwd())}
