"""The program that serves the bulk history: `python -m ledgerframes.sandbox.bulk.server N`; `start_bulk` runs it.

It prints its port and ends when its standard input does, and so with the program that started it.
"""

from __future__ import annotations

import argparse
import json
import socketserver
import sys
import threading
import time
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from ledgerframes.sandbox.bulk.history import ZERO, first_after, index_of, items

HISTORY = "/api/scan/v2/updates"
SHORT = timedelta(microseconds=1)
POLL = 0.05
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found"}


class Reply(NamedTuple):
    """A status with its body."""

    status: int
    body: bytes
    content_type: str = "application/json"


class BulkServer(socketserver.ThreadingTCPServer):
    """Answers from the bulk history, a thread a connection."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, updates: int, seed: int, port: int, page_maximum: int, latency: float) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self.updates = updates
        self.seed = seed
        self.page_maximum = page_maximum
        self.latency = latency

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """The answer to one request."""
        time.sleep(self.latency)
        if method == "POST" and path == HISTORY:
            return self._page(body)
        if method == "GET" and path.startswith(f"{HISTORY}/"):
            return self._update(path.removeprefix(f"{HISTORY}/"))
        return Reply(404, b"The requested resource could not be found.", "text/plain; charset=UTF-8")

    def _page(self, body: bytes) -> Reply:
        try:
            asked = json.loads(body)
            size, start = asked["page_size"], _start(asked.get("after"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _error(400, f"The request content was malformed: {error!r}")
        if type(size) is not int or size < 1:
            return _error(400, f"page_size must be a positive integer, not {size!r}")
        if size > self.page_maximum:
            return _error(400, f"Exceeded limit maximum ({size} > {self.page_maximum}).")
        end = min(start + size, self.updates)
        return Reply(200, b'{"transactions":[%s]}' % b",".join(items(start, end, seed=self.seed)))

    def _update(self, update_id: str) -> Reply:
        index = index_of(update_id)
        if index is not None and 0 <= index < self.updates:
            found = next(items(index, index + 1, seed=self.seed))
            if found.startswith(b'{"update_id":"%s"' % update_id.encode()):
                return Reply(200, found)
        return _error(404, f"Transaction with id {update_id} not found.")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle of a page is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Connection(socketserver.StreamRequestHandler):
    """One connection, request after request."""

    disable_nagle_algorithm = True
    server: BulkServer

    def handle(self) -> None:
        while line := self.rfile.readline(65_536):
            method, path, _ = line.decode("latin-1").split(" ", 2)
            headers = self._headers()
            body = self.rfile.read(int(headers.get("content-length", "0")))
            answer = self.server.answer(method, path.partition("?")[0], body)
            self.wfile.write(_head(answer))
            self.wfile.write(answer.body)
            if headers.get("connection", "").lower() == "close":
                return

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        while (line := self.rfile.readline(65_536).strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return headers


def _head(answer: Reply) -> bytes:
    return (
        f"HTTP/1.1 {answer.status} {REASONS[answer.status]}\r\n"
        f"Content-Type: {answer.content_type}\r\nContent-Length: {len(answer.body)}\r\n\r\n"
    ).encode()


def _start(after: dict[str, Any] | None) -> int:
    """The first item of a page."""
    if after is None:
        return 0
    # fromisoformat drops digits beyond microseconds, which is right for "strictly after".
    since = datetime.fromisoformat(after["after_record_time"]) - ZERO
    return first_after(int(after["after_migration_id"]), since // SHORT)


def _error(status: int, text: str) -> Reply:
    return Reply(status, json.dumps({"error": text}).encode())


def main(arguments: list[str] | None = None) -> int:
    """Serve until standard input ends; the first line of output is the port, or why there is none."""
    parser = argparse.ArgumentParser(description="Serve a made-up scan history of any length on loopback.")
    parser.add_argument("updates", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--page-maximum", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.0)
    try:
        server = BulkServer(**vars(parser.parse_args(arguments)))
    except OSError as error:
        sys.stdout.write(f"{error.strerror}\n")
        return 1
    with server:
        threading.Thread(target=server.serve_forever, args=(POLL,), daemon=True).start()
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()
        server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
