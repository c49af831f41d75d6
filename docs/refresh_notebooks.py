"""`make notebooks`: runs the notebooks and stores what they print and draw; the difference is to be read.

A cell keeps its outputs where only times and ids would change, so that a refresh changes no more than was meant.

python -m docs.refresh_notebooks [--pictures] [NOTEBOOK ...]     --pictures draws those again that are there
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
    changed = 0
    for old, new in zip(code_cells(stored), code_cells(fresh), strict=True):
        same = told(old) == told(new) and pictures(old) == pictures(new)
        if same and not (redraw and pictures(old)):
            new.outputs = old.outputs
        changed += not same
    write(fresh, path)
    return changed


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
