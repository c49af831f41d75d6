"""Runs every benchmark: `python -m tests.benchmarks [--write PAGE]`. A missed aim is a warning, no failure."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks import (
    analyses,
    economics,
    importing,
    lake,
    memory,
    objects,
    page_to_arrow,
    receiving,
    report,
    sandbox_start,
    whole_history,
)
from tests.benchmarks.measuring import Row
from tests.benchmarks.pages import all_pages


def main() -> None:
    """Measure, then print the page of figures or write it; what is being measured goes to standard error."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--write", type=Path, help="write the page there")
    arguments = parser.parse_args()
    start = time.monotonic()
    rows = measure()
    page = report.as_page(rows, time.monotonic() - start)
    if arguments.write:
        arguments.write.write_text(page, encoding="utf-8")
    else:
        print(page)


def measure() -> list[Row]:
    """Every benchmark's rows."""
    steps = {
        "pages to Arrow": lambda: [row for page in all_pages() for row in page_to_arrow.rows(page)],
        "receiving": receiving.rows,
        "whole loads": whole_history.rows,
        "import": importing.rows,
        "starting the sandbox": sandbox_start.rows,
        "memory": memory.rows,
        "the lake": lake.rows,
        "objects": objects.rows,
        "analyses": analyses.rows,
        "economics": economics.rows,
    }
    found: list[Row] = []
    for name, step in steps.items():
        print(f"measuring {name} ...", file=sys.stderr)
        found += step()
    for row in found:
        if row.below:
            print(f"warning: {row.what} is below its aim against {row.baseline}: {row.ratio:.2f}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
