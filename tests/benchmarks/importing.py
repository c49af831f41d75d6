"""What `import ledgerframes` takes, against `import pandas`, each in a fresh interpreter and compiled before."""

from __future__ import annotations

import compileall
import subprocess
import sys
from pathlib import Path
from statistics import median

import ledgerframes
from tests.benchmarks.measuring import Row

ROUNDS = 5
NAMES = ("ledgerframes", "pandas")
CODE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def rows() -> list[Row]:
    """The one ratio."""
    compileall.compile_dir(Path(ledgerframes.__file__).parent, quiet=1)  # as an installer does
    taken: dict[str, list[float]] = {name: [] for name in NAMES}
    for step in range(ROUNDS + 1):
        for name in NAMES:
            spent = _seconds(name)
            if step:
                taken[name].append(spent)
    ours, theirs = (median(taken[name]) * 1e3 for name in NAMES)
    return [Row(what="import ledgerframes", ours=ours, baseline="import pandas", theirs=theirs, aim=1 / 1.3)]


def _seconds(name: str) -> float:
    command = [sys.executable, "-c", CODE.format(name)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
