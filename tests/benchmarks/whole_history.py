"""`load_history` against a plain script, both reading the same updates from the same server in its own process."""

from __future__ import annotations

from typing import Any

import httpx

import ledgerframes as lf
from tests.benchmarks import plain_script
from tests.benchmarks.measuring import Row, side_by_side

SERVED = 20_000
READ = (5_000, 20_000)  # the ratio grows with the length, so it is shown for two
SCRIPT, BYTES = "httpx + json_normalize script", "httpx alone, nothing decoded"


def rows() -> list[Row]:
    """Each length's rows, from one server."""
    with lf.sandbox(bulk=SERVED) as net:
        return [row for count in READ for row in _rows(net, count)]


def _rows(net: lf.Network, count: int) -> list[Row]:
    """Into pandas and into Arrow against the script, and into pandas against the download."""
    url = net.sandbox.scan_url
    requests = _compare(net, url, count)
    size = sum(map(len, _download(url, requests)))
    found = side_by_side(
        {
            "pandas": lambda: lf.load_history(net, limit=count, progress=False),
            "Arrow": lambda: lf.load_history(net, limit=count, progress=False, as_="arrow"),
            SCRIPT: lambda: plain_script.load(url, count),
            BYTES: lambda: _download(url, requests),
        }
    )
    what = f"load_history, {count:,} updates -> "
    return [
        Row(what=what + form, ours=found[form], baseline=baseline, theirs=found[baseline], aim=aim, size=size)
        for form, baseline, aim in (("pandas", SCRIPT, 4.0), ("Arrow", SCRIPT, None), ("pandas", BYTES, None))
    ]


def _compare(net: lf.Network, url: str, count: int) -> list[dict[str, Any]]:
    """Check that both give the same updates, or their times would say nothing; give the requests for the pages."""
    ours, script = lf.load_history(net, limit=count, progress=False), plain_script.load(url, count)
    assert ours.updates.update_id.tolist() == script.updates.update_id.tolist()
    assert len(ours.events) == len(script.events)
    ends = ours.updates.iloc[plain_script.PAGE - 1 : count - 1 : plain_script.PAGE]
    places = [
        {"after_migration_id": migration_id, "after_record_time": record_time.isoformat().replace("+00:00", "Z")}
        for migration_id, record_time in zip(ends.migration_id.tolist(), ends.record_time, strict=True)
    ]
    first: dict[str, Any] = {"page_size": plain_script.PAGE}
    return [first, *({**first, "after": place} for place in places)]


def _download(url: str, requests: list[dict[str, Any]]) -> list[bytes]:
    with httpx.Client(timeout=60) as client:
        return [client.post(f"{url}/v2/updates", json=body).content for body in requests]
