"""How much memory a load, a sync and a sync of a snapshot take at their highest, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import ledgerframes as lf
from tests.benchmarks.measuring import UNKNOWN, Row, highest
from tests.benchmarks.servers import bulk_scan, snapshot_scan

READ = 20_000
SHORT, LONG = 100_000, 1_000_000
CONTRACTS = 1_000_000
WORKERS: Final = 4
ROOT: Final = Path(__file__).parents[2]
#: What a sync may take, in megabytes.
LIMIT: Final = 800.0


def rows() -> list[Row]:
    """Loads against the size of their result, long syncs against short ones, and syncs against a limit."""
    if not highest():
        return [Row(what="memory of loads and syncs", baseline=f"{LIMIT:.0f} MB", skipped=UNKNOWN)]
    found = []
    with bulk_scan(READ) as url:
        for form in ("pandas", "Arrow"):
            told = _told("load", url, form.lower())
            what = f"memory of load_history, {READ:,} updates -> {form}"
            found.append(
                Row(what=what, ours=told["grown"], baseline="size of the result", theirs=told["result"], unit="MB")
            )
    short, long = (sync_peak(count)["peak"] for count in (SHORT, LONG))
    what, limit = f"memory of a sync of {LONG:,} updates, {WORKERS} workers", f"{LIMIT:.0f} MB"
    found.append(Row(what=what, baseline=f"of {SHORT:,} updates", ours=long, theirs=short, unit="MB", aim=0.8))
    found.append(Row(what=what, baseline=limit, ours=long, theirs=LIMIT, unit="MB", aim=1.0))
    what, peak = f"memory of a sync of {CONTRACTS:,} active contracts", snapshot_peak(CONTRACTS)["peak"]
    return [*found, Row(what=what, baseline=limit, ours=peak, theirs=LIMIT, unit="MB", aim=1.0)]


def sync_peak(updates: int) -> dict[str, float]:
    """The highest memory of a sync of so many updates."""
    with bulk_scan(updates) as url:
        return _told("sync", url, str(updates))


def snapshot_peak(contracts: int) -> dict[str, float]:
    """That of a sync of so many active contracts, and with a check and an export as Parquet after it."""
    with snapshot_scan(contracts) as url:
        return _told("snapshot", url, str(contracts))


def _told(what: str, url: str, given: str) -> dict[str, float]:
    """What a process says of itself, in megabytes."""
    command = [sys.executable, "-m", "tests.benchmarks.memory", what, url, given]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _load(net: lf.types.Network, form: str, folder: str) -> dict[str, float]:  # noqa: ARG001
    as_: Any = form
    lf.load_history(net, limit=5, as_=as_, progress=False)  # so that libraries are not counted
    before = highest()
    history = lf.load_history(net, limit=READ, as_=as_, progress=False)
    return {"grown": (highest() - before) / 1e6, "result": sum(map(_size, history)) / 1e6}


def _size(frame: Any) -> int:
    """Bytes of a table; of a frame with its texts and tuples, whose parts pandas does not count."""
    if hasattr(frame, "nbytes"):
        return int(frame.nbytes)
    return int(frame.memory_usage(deep=True).sum())


def _sync(net: lf.types.Network, updates: str, folder: str) -> dict[str, float]:
    report = lf.open_store(Path(folder) / "lake").sync(net, workers=WORKERS, progress=False)
    assert report.rows["updates"] == int(updates)
    return {"peak": highest() / 2**20}


def _snapshot(net: lf.types.Network, contracts: str, folder: str) -> dict[str, float]:
    store, began = lf.open_store(Path(folder) / "lake"), time.monotonic()
    report = store.sync(net, tables=["active_contracts"], progress=False)
    assert report.rows == {"active_contracts": int(contracts)}
    figures = {"peak": highest() / 2**20, "seconds": time.monotonic() - began}
    assert store.check()
    assert store.export(Path(folder) / "out", tables=["active_contracts"]).rows == int(contracts)
    return figures | {"peak_with_check_and_export": highest() / 2**20}


def main() -> None:
    """Do one of them, and print what it took."""
    what, url, given = sys.argv[1:]
    doing: dict[str, Callable[[lf.types.Network, str, str], dict[str, float]]] = {
        "load": _load, "sync": _sync, "snapshot": _snapshot,
    }  # fmt: skip
    with lf.connect(scan_url=url) as net, tempfile.TemporaryDirectory() as folder:
        print(json.dumps(doing[what](net, given, folder)))


if __name__ == "__main__":
    main()
