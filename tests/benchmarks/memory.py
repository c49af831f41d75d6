"""How much memory a load takes at its highest, against the size of its result; each in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import ledgerframes as lf
from tests.benchmarks.measuring import Row, highest
from tests.benchmarks.servers import bulk_scan

READ = 20_000
Form = Literal["pandas", "arrow"]
ROOT = Path(__file__).parents[2]


def rows() -> list[Row]:
    """The growth of the process while it loads, into pandas and into Arrow."""
    with bulk_scan(READ) as url:
        return [_row(form, url) for form in ("pandas", "Arrow")]


def _row(form: str, url: str) -> Row:
    what, baseline = f"memory of load_history, {READ:,} updates -> {form}", "size of the result"
    if not Path("/proc/self/status").exists():
        return Row(what=what, baseline=baseline, skipped="the highest use is read from /proc, which is not here")
    command = [sys.executable, "-m", "tests.benchmarks.memory", form.lower(), url]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    return Row(what=what, ours=said["grown"] / 1e6, baseline=baseline, theirs=said["result"] / 1e6, unit="MB")


def load_and_tell(form: Form, url: str) -> None:
    """Load in this process and print what it took, in bytes."""
    with lf.connect(scan_url=url) as net:
        lf.load_history(net, limit=5, as_=form, progress=False)  # so that libraries are not counted
        before = highest()
        history = lf.load_history(net, limit=READ, as_=form, progress=False)
        grown = highest() - before
    print(json.dumps({"grown": grown, "result": sum(map(_size, history))}))


def _size(frame: Any) -> int:
    """Bytes of a table; of a frame with its texts and tuples, whose parts pandas does not count."""
    if hasattr(frame, "nbytes"):
        return int(frame.nbytes)
    return int(frame.memory_usage(deep=True).sum())


if __name__ == "__main__":
    load_and_tell("arrow" if sys.argv[1] == "arrow" else "pandas", sys.argv[2])
