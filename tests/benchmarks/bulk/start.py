"""Starts a scan with millions of updates in its own process; benchmarks and long tests call it."""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType
from typing import Self

from ledgerframes.sandbox.start_options import real, whole
from tests.benchmarks.bulk.history import item, totals

__all__ = ["Bulk", "item", "start_bulk", "totals"]

SERVER = "tests.benchmarks.bulk.server"


def start_bulk(updates: int, *, seed: int = 7, port: int = 0, page_maximum: int = 1000, latency: float = 0.0) -> Bulk:
    """Serve a simulated history on a loopback port, from its own process.

    It answers `POST /v2/updates` and `GET /v2/updates/{update_id}` (contract: Scan interface). Its memory
    does not grow with the number of updates. It ends with this program, however that ends.

    Args:
        updates: the number of updates; item i is the same for every length.
        seed: another seed gives other ids and payloads.
        port: 0 takes a free one.
        page_maximum: a larger page_size is refused with a 400 that names the maximum.
        latency: seconds that every request waits.

    Raises:
        ValueError: a value is not valid.
        OSError: the server did not start, for instance because the port is taken.
    """
    updates, seed = whole(updates, "bulk", least=1), whole(seed, "seed")
    port, page_maximum = whole(port, "port", least=0, most=65_535), whole(page_maximum, "page_maximum", least=1)
    latency = real(latency, "latency")
    command = [sys.executable, "-m", SERVER, str(updates), "--seed", str(seed), "--port", str(port)]
    options = ["--page-maximum", str(page_maximum), "--latency", str(latency)]
    process = subprocess.Popen(  # our own interpreter and module
        [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    # Otherwise the line is the reason why the port could not be taken.
    if not line.isdigit():
        process.communicate()
        raise OSError(f"the bulk server did not start on port {port}: {line or 'see its error output'}")
    return Bulk(process, port=int(line))


class Bulk:
    """A running bulk server; a context manager that stops it.

    Attributes:
        url: such as `http://127.0.0.1:41234`, without a slash at the end.
        scan_url: where its scan interface is.
        pid: the process that serves.
    """

    def __init__(self, process: subprocess.Popen[str], *, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.scan_url = f"{self.url}/api/scan"
        self.pid = process.pid
        self._process = process

    def stop(self) -> None:
        """End the server; a second call does nothing."""
        if self._process.stdin is None or self._process.stdin.closed:
            return
        try:
            self._process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Bulk {self.scan_url}>"
