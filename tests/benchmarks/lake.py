"""`Store.sync`: many workers against one where answers take their time, and against a script and decoding where not."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ledgerframes as lf
from tests.benchmarks import plain_script
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.servers import bulk_scan
from tests.decoding.items import decoded

LATENCY = 0.08
SLOW = 24_000  # updates behind a slow server
QUICK = 20_000
SCRIPT, DECODING = "httpx + json_normalize + to_parquet script", "decoding its pages alone"


def rows() -> list[Row]:
    """Slow server, then quick one."""
    return [*_slow(), *_quick()]


def _slow() -> list[Row]:
    found = []
    for page_size, aim in ((20, 12.0), (50, 12.0), (1000, None)):
        with bulk_scan(SLOW, latency=LATENCY) as url, lf.connect(scan_url=url) as net:
            sync(net, workers=16)  # the first one imports libraries
            many = _seconds(partial(sync, net, workers=16, page_size=page_size))
            one = _seconds(partial(sync, net, workers=1, page_size=page_size))
        what = f"sync of {SLOW:,} updates, {LATENCY * 1000:.0f} ms latency, pages of {page_size:,}, 16 workers"
        found.append(Row(what=what, baseline="1 worker", ours=many * 1e3, theirs=one * 1e3, aim=aim))
    return found


def _quick() -> list[Row]:
    with bulk_scan(QUICK, keep=True) as url, lf.connect(scan_url=url) as net, tempfile.TemporaryDirectory() as folder:
        bodies = _pages(net)
        # What was written is thrown away after the last round: that belongs to neither side.
        found = side_by_side(
            {
                "sync": lambda: _into(tempfile.mkdtemp(dir=folder), net, workers=4),
                SCRIPT: lambda: _script(url, Path(tempfile.mkdtemp(dir=folder))),
                DECODING: lambda: [decoded(body) for body in bodies],
            },
            rounds=3,
        )
    what, size = f"sync of {QUICK:,} updates, 4 workers", sum(map(len, bodies))
    return [
        Row(what=what, baseline=SCRIPT, ours=found["sync"], theirs=found[SCRIPT], aim=5.0, size=size),
        Row(what=what, baseline=DECODING, ours=found["sync"], theirs=found[DECODING], size=size),
    ]


def sync(net: lf.types.Network, *, workers: int, page_size: int = 1000) -> None:
    """Sync into a new lake and throw it away."""
    folder = tempfile.mkdtemp()
    try:
        _into(folder, net, workers=workers, page_size=page_size)
    finally:
        shutil.rmtree(folder)


def _into(folder: str, net: lf.types.Network, *, workers: int, page_size: int = 1000) -> None:
    report = lf.open_store(Path(folder) / "lake").sync(net, workers=workers, page_size=page_size, progress=False)
    assert report.complete


def _script(url: str, folder: Path) -> None:
    for name, frame in plain_script.load(url, QUICK)._asdict().items():
        frame.astype("str").to_parquet(folder / f"{name}.parquet")


def _pages(net: lf.types.Network) -> list[bytes]:
    from ledgerframes.interfaces.history import read_pages
    from ledgerframes.paging.cursor import Window
    from ledgerframes.paging.history import HistoryReader

    return [page.page.raw for page in read_pages(net.scan.update_pages, HistoryReader(Window()))]


def _seconds(call: Callable[[], None]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
