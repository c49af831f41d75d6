"""Scans of any length, each in a process of its own: one of the long history, and one of a snapshot of contracts.

`python -m tests.benchmarks.servers history N` prints its port and ends with its standard input, so that it never
outlives the program that started it. Pages are made when they are asked for, so its memory does not grow with N.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ledgerframes.sandbox.world import timestamps
from tests.benchmarks.long_history import first_after, items

SNAPSHOT = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4}
FIRST = {
    "update_id": "u", "migration_id": 4, "record_time": "2026-01-01T00:00:00Z", "workflow_id": "",
    "synchronizer_id": "s", "effective_at": "2026-01-01T00:00:00Z", "root_event_ids": [], "events_by_id": {},
}  # fmt: skip


def contract(number: int) -> str:
    """One contract of about the size of a real coin, as JSON; ids hardly compress, as real ones."""
    random = f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}"
    ident = (random * 9)[:138]
    owner = f"owner-{number % 5_000}::1220{(random * 4)[:64]}"
    dso = "DSO::1220b1431ef217342db44d516bb9befde802be7d8899637d290895fa58880f19accc"
    return (
        f'{{"contract_id":"{ident}","template_id":"{"3ca1343ab26b453d38c8adb70dca5f1ead8440c42b59b68f070786955cbf9ec1"}'
        f':Splice.Amulet:Amulet","package_name":"splice-amulet","create_arguments":{{"dso":"{dso}","owner":"{owner}",'
        f'"amount":{{"initialAmount":"{number}.5000000000","createdAt":{{"number":"{number % 90_000}"}},'
        f'"ratePerRound":{{"rate":"0.0001098709"}}}}}},"created_at":"2026-01-29T{number % 24:02}:28:37.208560Z",'
        f'"signatories":["{dso}","{owner}"],"observers":[],"created_in_update_id":"1220{(random * 4)[:64]}"}}'
    )


class Snapshot:
    """One snapshot with so many contracts."""

    def __init__(self, contracts: int) -> None:
        self._contracts = contracts

    def answer(self, path: str, asked: dict[str, Any]) -> str | bytes | None:
        """JSON text; None where there is no such path."""
        if path.endswith("/v2/updates"):
            return json.dumps({"transactions": [] if "after" in asked else [FIRST]})
        if not asked:
            return json.dumps({"record_time": SNAPSHOT["record_time"]})
        start = asked.get("after") or 0
        end = min(start + asked["page_size"], self._contracts)
        following = f',"next_page_token":{end}' if end < self._contracts else ""
        events = ",".join(map(contract, range(start, end)))
        return f'{json.dumps(SNAPSHOT)[:-1]},"created_events":[{events}]{following}}}'


class History:
    """The first updates of the long history; with `keep` a page costs nothing but its first time."""

    def __init__(self, updates: int, *, keep: bool) -> None:
        self._updates = updates
        self._keep = keep
        self._kept: dict[tuple[int, int], bytes] = {}

    def answer(self, path: str, asked: dict[str, Any]) -> str | bytes | None:
        """JSON text; None where there is no such path."""
        if not path.endswith("/v2/updates"):
            return None
        after, start = asked.get("after"), 0
        if after is not None:
            start = first_after(after["after_migration_id"], timestamps.parse(after["after_record_time"]))
        page = (start, min(start + asked["page_size"], self._updates))
        body = self._kept.get(page) or b'{"transactions":[%s]}' % b",".join(items(*page))
        if self._keep:
            self._kept[page] = body
        return body


class Handler(BaseHTTPRequestHandler):
    """Answers for a scan, each time after a while."""

    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; without this a short body waits 40 ms for the headers' acknowledgement.
    disable_nagle_algorithm = True

    def __init__(self, scan: Snapshot | History, latency: float, *rest: Any) -> None:
        self._scan = scan
        self._latency = latency
        super().__init__(*rest)

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, asked: dict[str, Any]) -> None:
        time.sleep(self._latency)
        found = self._scan.answer(self.path, asked)
        body = "The requested resource could not be found." if found is None else found
        sent = body.encode() if isinstance(body, str) else body
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "text/plain" if found is None else "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def bulk_scan(updates: int, *, latency: float = 0.0, keep: bool = False) -> Any:
    """Serve the first updates of the long history; a context manager that gives the scan's URL.

    Args:
        updates: their number.
        latency: seconds that every request waits.
        keep: keep every page, so that serving it again costs the machine next to nothing.
    """
    options = ["--latency", str(latency), *(["--keep"] if keep else [])]
    return _serving("history", str(updates), *options)


def snapshot_scan(contracts: int) -> Any:
    """Serve a snapshot of so many contracts, likewise."""
    return _serving("snapshot", str(contracts))


@contextmanager
def _serving(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.benchmarks.servers", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/api/scan"
        finally:
            process.stdin.close()


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.servers", description=__doc__)
    parser.add_argument("what", choices=["history", "snapshot"])
    parser.add_argument("count", type=int)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    scan = Snapshot(options.count) if options.what == "snapshot" else History(options.count, keep=options.keep)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, scan, options.latency))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    # Returns when the starting program ends, even if it is killed, since its end of the pipe is closed then.
    sys.stdin.read()


if __name__ == "__main__":
    main()
