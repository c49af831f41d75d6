"""How much memory a snapshot of a million active contracts takes on its way into a lake, against 800 MB."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ledgerframes as lf
from tests.benchmarks.measuring import Row, highest
from tests.benchmarks.servers import snapshot_scan

CONTRACTS = 1_000_000
ROOT = Path(__file__).parents[2]


def rows() -> list[Row]:
    """The peak of a process that syncs."""
    what = f"memory of a sync of {CONTRACTS:,} active contracts"
    return [Row(what=what, baseline="800 MB", ours=peak(CONTRACTS)["peak_mb"], theirs=800.0, unit="MB", aim=1.0)]


def peak(contracts: int, *options: str) -> dict[str, float]:
    """What one sync took, in a process of its own; `--export` writes the snapshot as Parquet too."""
    with snapshot_scan(contracts) as url, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.snapshot_memory", url, folder, str(contracts), *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Sync in this process and print its peak; with a number alone, serve that many contracts first."""
    if len(sys.argv) < 3:
        print(json.dumps(peak(int(sys.argv[1]) if len(sys.argv) == 2 else CONTRACTS, "--export")))
        return
    url, folder, count = sys.argv[1:4]
    store = lf.open_store(Path(folder) / "lake")
    began = time.monotonic()
    with lf.connect(scan_url=url) as net:
        report = store.sync(net, tables=["active_contracts"], progress=False)
    assert report.rows == {"active_contracts": int(count)}
    figures = {"peak_mb": highest() / 2**20, "seconds": time.monotonic() - began}
    if "--export" in sys.argv:
        assert store.check()
        assert store.export(Path(folder) / "out", tables=["active_contracts"]).rows == int(count)
        figures["peak_with_check_and_export_mb"] = highest() / 2**20
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
