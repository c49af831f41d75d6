"""A scan of one snapshot with any number of contracts: `python -m tests.benchmarks.made_up_snapshot N`.

Pages are made when they are asked for, so its memory does not grow. It prints its port and ends with its standard
input, so that it never outlives the program that started it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


class _Scan(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    contracts = 0
    pages = 0

    def do_GET(self) -> None:
        self._answer(json.dumps({"record_time": SNAPSHOT["record_time"]}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/v2/updates"):
            self._answer(json.dumps({"transactions": [] if "after" in asked else [FIRST]}))
            return
        start = asked.get("after") or 0
        end = min(start + asked["page_size"], self.contracts)
        following = f',"next_page_token":{end}' if end < self.contracts else ""
        events = ",".join(map(contract, range(start, end)))
        self._answer(f'{json.dumps(SNAPSHOT)[:-1]},"created_events":[{events}]{following}}}')

    def _answer(self, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def made_up_snapshot(contracts: int) -> Iterator[str]:
    """Serve a snapshot from a process of its own; gives the scan's URL."""
    command = [sys.executable, "-m", "tests.benchmarks.made_up_snapshot", str(contracts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/api/scan"
        process.stdin.close()


def main() -> None:
    """Serve until standard input ends."""
    _Scan.contracts = int(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Scan)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
