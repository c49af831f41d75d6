"""Pages of 1,000 compact items, of a captured server and of the sandbox; the decoding benchmarks read them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
import orjson

import ledgerframes as lf

ITEMS = 1000
CAPTURE = Path(__file__).parents[3] / "shared" / "captures" / "scan-updates-page.json"


@dataclass(frozen=True)
class BenchmarkPage:
    """The body of a page, or why there is none."""

    name: str
    body: bytes = b""
    skipped: str = ""


def all_pages() -> list[BenchmarkPage]:
    """Both pages."""
    return [captured_page(), sandbox_page()]


def captured_page() -> BenchmarkPage:
    """The captured items over and over, each copy with an update id of its own."""
    if not CAPTURE.exists():
        return BenchmarkPage("captured page", skipped=f"{CAPTURE.name} is not here")
    real = orjson.loads(CAPTURE.read_bytes())["response"]["body"]["transactions"]
    copies = [_renamed(item, number) for number, item in enumerate(islice(cycle(real), ITEMS))]
    return BenchmarkPage("captured page", b'{"transactions":[%s]}' % b",".join(copies))


def sandbox_page() -> BenchmarkPage:
    """The sandbox's first page, as it sends it."""
    with lf.sandbox(seed=7, updates=ITEMS) as net:
        return BenchmarkPage("sandbox page", _first_page(net.sandbox.scan_url))


def _first_page(scan_url: str) -> bytes:
    answer = httpx.post(f"{scan_url}/v2/updates", json={"page_size": ITEMS}, timeout=60)
    assert len(answer.json()["transactions"]) == ITEMS
    return answer.content


def _renamed(item: dict[str, Any], number: int) -> bytes:
    """The item as compact JSON under another id; its event ids begin with it, so they follow."""
    old = item["update_id"].encode()
    return orjson.dumps(item).replace(old, old[:-4] + b"%04x" % number)
