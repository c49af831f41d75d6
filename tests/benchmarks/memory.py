"""How much memory a sync and a sync of a snapshot take at their highest, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import ledgerframes as lf
from tests.benchmarks.measuring import UNKNOWN, Row, highest
from tests.benchmarks.servers import bulk_scan, snapshot_scan

SHORT, LONG = 100_000, 1_000_000
CONTRACTS = 1_000_000
WORKERS: Final = 4
ROOT: Final = Path(__file__).parents[2]
#: What a sync may take, in megabytes.
LIMIT: Final = 800.0


def rows() -> list[Row]:
    """Long syncs against short ones, and syncs against a limit."""
    limit = f"{LIMIT:.0f} MB"
    if not highest():
        return [Row(what="memory of syncs", baseline=limit, skipped=UNKNOWN)]
    short, long = (sync_peak(count) for count in (SHORT, LONG))
    what, snapshot = f"memory of a sync of {LONG:,} updates, {WORKERS} workers", snapshot_peak(CONTRACTS)
    of_contracts = f"memory of a sync of {CONTRACTS:,} active contracts"
    return [
        Row(what=what, baseline=f"of {SHORT:,} updates", ours=long, theirs=short, unit="MB", aim=0.8),
        Row(what=what, baseline=limit, ours=long, theirs=LIMIT, unit="MB", aim=1.0),
        Row(what=of_contracts, baseline=limit, ours=snapshot, theirs=LIMIT, unit="MB", aim=1.0),
    ]


def sync_peak(updates: int) -> float:
    """The highest memory of a sync of so many updates."""
    with bulk_scan(updates) as url:
        return _told("sync", url, str(updates))


def snapshot_peak(contracts: int) -> float:
    """That of a sync of so many active contracts."""
    with snapshot_scan(contracts) as url:
        return _told("snapshot", url, str(contracts))


def _told(what: str, url: str, given: str) -> float:
    """What a process says of itself."""
    command = [sys.executable, "-m", "tests.benchmarks.memory", what, url, given]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return float(done.stdout)


def _sync(net: lf.types.Network, updates: str, folder: str) -> float:
    report = lf.open_store(Path(folder) / "lake").sync(net, workers=WORKERS, progress=False)
    assert report.rows["updates"] == int(updates)
    return highest() / 2**20


def _snapshot(net: lf.types.Network, contracts: str, folder: str) -> float:
    store = lf.open_store(Path(folder) / "lake")
    report = store.sync(net, tables=["active_contracts"], progress=False)
    assert report.rows == {"active_contracts": int(contracts)}
    return highest() / 2**20


def main() -> None:
    """Do one of them, and print what it took."""
    what, url, given = sys.argv[1:]
    doing = {"sync": _sync, "snapshot": _snapshot}
    with lf.connect(scan_url=url) as net, tempfile.TemporaryDirectory() as folder:
        print(doing[what](net, given, folder))


if __name__ == "__main__":
    main()
