"""A scan in a process of its own that costs the measured process nothing: it serves recorded items as pages.

`python -m tests.benchmarks.replay_server FILE` serves a file with an item per line, and prints its port.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from pathlib import Path
from typing import Any

import ledgerframes as lf
from ledgerframes.decoding.splitting import raws_of
from ledgerframes.interfaces.history import read_pages
from ledgerframes.paging.cursor import Window
from ledgerframes.paging.history import HistoryReader
from tests.benchmarks.bulk.start import start_bulk


@contextmanager
def replayed(items: Sequence[bytes]) -> Iterator[str]:
    """Serve items, in the order of their record times; gives the scan's URL."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "items"
        file.write_bytes(b"\n".join(items))
        command = [sys.executable, "-m", "tests.benchmarks.replay_server", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                yield f"http://127.0.0.1:{int(process.stdout.readline())}/api/scan"
            finally:
                process.terminate()


def recorded(count: int) -> list[bytes]:
    """The items of the large history, in their order."""
    with start_bulk(count) as bulk, lf.connect(scan_url=bulk.scan_url) as net:
        pages = read_pages(net.scan.update_pages, HistoryReader(Window()))
        return [raw for page in pages for raw in itemgetter(*page.rows, page.rows[0])(raws_of(page.page.raw))[:-1]]


class Pages:
    """The items, and every page that was asked for before."""

    def __init__(self, items: list[bytes]) -> None:
        self._items = items
        self._places = [_place(json.loads(item)) for item in items]
        self._made: dict[tuple[int, int], bytes] = {}

    def page(self, asked: dict[str, Any]) -> bytes:
        """The page after a place."""
        after = asked.get("after")
        place = (after["after_migration_id"], after["after_record_time"]) if after else (-1, "")
        # Recorded times all have six digits, so their text is in order.
        start, size = bisect_right(self._places, place), asked["page_size"]
        if (start, size) not in self._made:
            self._made[start, size] = b'{"transactions":[%b]}' % b",".join(self._items[start : start + size])
        return self._made[start, size]


def _place(item: dict[str, Any]) -> tuple[int, str]:
    return item.get("event", item)["migration_id"], item["record_time"]


def main() -> None:
    """Serve until the process is ended."""
    pages = Pages(Path(sys.argv[1]).read_bytes().split(b"\n"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two writes; without this a short body waits 40 ms for the headers' acknowledgement.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = pages.page(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
