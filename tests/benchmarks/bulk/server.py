"""The program that serves the bulk history: `python -m tests.benchmarks.bulk.server N`; `start_bulk` runs it.

It prints its port and ends with its standard input, so that it never outlives the program that started it.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ledgerframes.sandbox.http.responses import RefusalError, check_size, json_answer, no_route, read_as, refused
from ledgerframes.sandbox.http.scan import PageRequest
from ledgerframes.sandbox.serving import serve
from tests.benchmarks.bulk.history import ZERO, first_after, index_of, item, items

HISTORY = "/api/scan/v2/updates"


@dataclass(frozen=True, slots=True)
class BulkScan:
    """The handlers of the two calls that the bulk server has.

    Attributes:
        updates: how many there are.
        seed: what the items are made from.
        page_maximum: a larger page is refused.
    """

    updates: int
    seed: int
    page_maximum: int

    def app(self) -> Starlette:
        """The ASGI app."""
        routes = [
            Route(HISTORY, self.page, methods=["POST"]),
            Route(f"{HISTORY}/{{update_id}}", self.update_by_id, methods=["GET"]),
        ]
        return Starlette(routes=routes, exception_handlers={RefusalError: _refuse, HTTPException: no_route})

    async def page(self, request: Request) -> Response:
        """POST /v2/updates."""
        wanted = read_as(PageRequest, await request.body())
        check_size("page_size", wanted.page_size, self.page_maximum)
        size, after = wanted.page_size, wanted.cursor()
        start = 0 if after is None else first_after(after[0], after[1] - ZERO)
        # A thread builds one page while the event loop sends another: the socket's work does not hold the GIL.
        return json_answer(await run_in_threadpool(self._page, start, min(start + size, self.updates)))

    def _page(self, start: int, end: int) -> bytes:
        return b'{"transactions":[%s]}' % b",".join(items(start, end, seed=self.seed))

    async def update_by_id(self, request: Request) -> Response:
        """GET /v2/updates/{update_id}."""
        update_id = request.path_params["update_id"]
        index = index_of(update_id)
        if index is not None and 0 <= index < self.updates:
            update = item(index, self.seed)
            if update.startswith(b'{"update_id":"%s"' % update_id.encode()):
                return json_answer(update)
        raise RefusalError(404, f"Transaction with id {update_id} not found.")


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return refused(error)


def main(arguments: list[str] | None = None) -> int:
    """Serve until standard input ends; the first line of output is the port, or why there is none."""
    parser = argparse.ArgumentParser(description="Serve a simulated scan history of any length on loopback.")
    parser.add_argument("updates", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--page-maximum", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args(arguments)
    scan = BulkScan(options.updates, options.seed, options.page_maximum)
    try:
        served = serve(scan.app(), port=options.port, latency=options.latency)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        sys.stdout.write(f"{reason}\n")
        return 1
    with served:
        sys.stdout.write(f"{served.url.rpartition(':')[2]}\n")
        sys.stdout.flush()
        # Returns when the starting program ends, even if it is killed, since its end of the pipe is closed then.
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
