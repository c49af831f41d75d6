"""How much memory a sync takes at its highest: a million updates against a hundred thousand, and against 800 MB."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import ledgerframes as lf
from tests.benchmarks.measuring import Row, highest
from tests.benchmarks.servers import bulk_scan

SHORT, LONG = 100_000, 1_000_000
WORKERS = 4
ROOT = Path(__file__).parents[2]


def rows() -> list[Row]:
    """The peak of a process that syncs, for both lengths."""
    peaks = {count: _peak(count) for count in (SHORT, LONG)}
    what = f"memory of a sync of {LONG:,} updates, {WORKERS} workers"
    return [
        Row(what=what, baseline=f"of {SHORT:,} updates", ours=peaks[LONG], theirs=peaks[SHORT], unit="MB", aim=0.8),
        Row(what=what, baseline="800 MB", ours=peaks[LONG], theirs=800.0, unit="MB", aim=1.0),
    ]


def _peak(count: int) -> float:
    with bulk_scan(count) as url, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.lake_memory", url, folder, str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return float(json.loads(done.stdout))


def main() -> None:
    """Sync in this process and print its peak in megabytes."""
    url, folder, count = sys.argv[1:]
    report = lf.open_store(Path(folder) / "lake").sync(lf.connect(scan_url=url), workers=WORKERS, progress=False)
    assert report.rows["updates"] == int(count)
    print(json.dumps(highest() / 2**20))


if __name__ == "__main__":
    main()
