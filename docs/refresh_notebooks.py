"""`make notebooks`: runs the notebooks and stores what they print and draw; the difference is to be read.

A cell keeps its outputs where only times and ids would change, so that a refresh changes no more than was meant. The
charts of a notebook are drawn again if any of its cells prints something else: they may show it, too.

python -m docs.refresh_notebooks [--pictures] [NOTEBOOK ...]     --pictures makes all charts and tables again
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import Any

from tests.notebooks import NOTEBOOKS, code_cells, kernel, pictures, read, run, tidy, told, write


def refresh(path: Path, started: Any, *, redraw: bool) -> int:
    """Run a notebook and store it; gives how many cells say something else."""
    stored = read(path)
    with tempfile.TemporaryDirectory() as folder:
        fresh = tidy(run(path, Path(folder), started), Path(folder).resolve())
    pairs = list(zip(code_cells(stored), code_cells(fresh), strict=True))
    same = [told(old) == told(new) and pictures(old) == pictures(new) for old, new in pairs]
    redraw = redraw or not all(same)
    for number, ((old, new), kept) in enumerate(zip(pairs, same, strict=True), start=1):
        if kept and not (redraw and _drawn(old)):
            new.outputs = old.outputs
        for counted in (new, *(output for output in new.outputs if "execution_count" in output)):
            counted.execution_count = number
    write(fresh, path)
    return same.count(False)


def _drawn(cell: Any) -> bool:
    """Whether a cell shows a chart or a table."""
    return any({"image/png", "text/html"} & {*output.get("data", {})} for output in cell.outputs)


def main() -> None:
    """Refresh the notebooks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m docs.refresh_notebooks", description=__doc__)
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("notebooks", nargs="*", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")  # of the kernel's libraries
    with kernel() as started:
        for path in given.notebooks or NOTEBOOKS:
            print(f"{path.name}: {refresh(path, started, redraw=given.pictures)} cells changed", flush=True)


if __name__ == "__main__":
    main()
