"""Requests from the one call to the bytes of the answer, nothing decoded, against httpx, urllib3 and http.client.

Measured in processor time, over kept connections to a server in another process.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
import urllib3

import ledgerframes as lf
from ledgerframes.transport import Endpoint, Sender
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.servers import bulk_scan

PAGES = Endpoint(interface="scan", method="POST", path="/v2/updates")
SIZES = {50: 100, 1_000: 10}  # requests in one measurement, by items per page
HTTPX, URLLIB3, STANDARD = "httpx", "urllib3", "http.client"


def rows() -> list[Row]:
    """Small pages and full ones."""
    with bulk_scan(max(SIZES), keep=True) as url, lf.connect(scan_url=url) as net, httpx.Client() as client:
        return [row for size, repeat in SIZES.items() for row in _rows(net, client, url, size, repeat)]


def _rows(net: lf.types.Network, client: httpx.Client, url: str, size: int, repeat: int) -> list[Row]:
    whole, body, kind = f"{url}/v2/updates", b'{"page_size":%d}' % size, {"Content-Type": "application/json"}
    pool, parts = urllib3.PoolManager(), urlsplit(whole)
    standard, sender = http.client.HTTPConnection(parts.netloc), Sender(net.transport)

    def by_standard() -> int:
        standard.request("POST", parts.path, body=body, headers=kind)
        return len(standard.getresponse().read())

    def ours() -> int:
        return sender.send(PAGES.request(json={"page_size": size}), read=len).value

    calls: dict[str, Callable[[], Any]] = {
        "ours": ours,
        HTTPX: lambda: len(client.post(whole, content=body, headers=kind).content),
        URLLIB3: lambda: len(pool.request("POST", whole, body=body, headers=kind).data),
        STANDARD: by_standard,
    }
    length = ours()
    assert {call() for call in calls.values()} == {length}
    found = side_by_side({name: partial(_times, call, repeat) for name, call in calls.items()}, clock=time.process_time)
    pool.clear()
    standard.close()
    return [
        Row(
            what=f"request for a page of {size:,}, {length / 1e6:.2f} MB",
            ours=found["ours"] / repeat,
            baseline=baseline,
            theirs=found[baseline] / repeat,
            size=length,
        )
        for baseline in (HTTPX, URLLIB3, STANDARD)
    ]


def _times(call: Callable[[], Any], repeat: int) -> None:
    for _ in range(repeat):
        call()
