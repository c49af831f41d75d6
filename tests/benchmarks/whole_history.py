"""`load_history` against a plain script, both reading the same updates from pages that another process made before.

Measured in processor time of this process, so that neither the server nor waiting for it counts.
"""

from __future__ import annotations

import time

import ledgerframes as lf
from tests.benchmarks import plain_script
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.servers import bulk_scan

SERVED = 20_000
READ = (5_000, 20_000)  # the ratio grows with the length, so it is shown for two
LISTS = 'pandas with lists="arrow"'
SCRIPT = "httpx + json_normalize script"
SMALL, FULL = 50, "in pages of 1,000"


def rows() -> list[Row]:
    """Each length's rows, from one server."""
    with bulk_scan(SERVED, keep=True) as url, lf.connect(scan_url=url) as net, lf.connect(scan_url=url) as small:
        return [*(row for count in READ for row in _rows(net, url, count)), _small(net, small)]


def _small(net: lf.types.Network, small: lf.types.Network) -> Row:
    """In small pages, as from a server that allows no others, against full ones."""
    count = READ[0]
    small.transport.largest_pages[small.transport.servers("scan")[0]] = SMALL
    found = side_by_side(
        {
            "ours": lambda: lf.load_history(small, limit=count, progress=False, as_="arrow"),
            FULL: lambda: lf.load_history(net, limit=count, progress=False, as_="arrow"),
        },
        clock=time.process_time,
    )
    what = f"load_history, {count:,} updates in pages of {SMALL} -> Arrow"
    return Row(what=what, ours=found["ours"], baseline=FULL, theirs=found[FULL], aim=0.8)


def _rows(net: lf.types.Network, url: str, count: int) -> list[Row]:
    """Into pandas and into Arrow against the script."""
    _compare(net, url, count)
    found = side_by_side(
        {
            "pandas": lambda: lf.load_history(net, limit=count, progress=False),
            LISTS: lambda: lf.load_history(net, limit=count, progress=False, lists="arrow"),
            "Arrow": lambda: lf.load_history(net, limit=count, progress=False, as_="arrow"),
            SCRIPT: lambda: plain_script.load(url, count),
        },
        clock=time.process_time,
    )
    what = f"load_history, {count:,} updates -> "
    return [
        Row(what=what + form, ours=found[form], baseline=SCRIPT, theirs=found[SCRIPT], aim=aim)
        for form, aim in (("pandas", 8.0), (LISTS, None), ("Arrow", 10.0))
    ]


def _compare(net: lf.types.Network, url: str, count: int) -> None:
    """Check that both give the same updates, or their times would say nothing."""
    ours, script = lf.load_history(net, limit=count, progress=False), plain_script.load(url, count)
    assert ours.updates.update_id.tolist() == script.updates.update_id.tolist()
    assert len(ours.events) == len(script.events)
