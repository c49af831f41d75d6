"""Runs every benchmark: `python -m tests.benchmarks [--json] [--write PAGE]`. A missed aim is a warning, no failure."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.benchmarks import (
    analyses,
    economics,
    html_report,
    importing,
    lake,
    memory,
    objects,
    page_to_arrow,
    peeking,
    receiving,
    report,
    sandbox_start,
    whole_history,
)
from tests.benchmarks.measuring import Row
from tests.benchmarks.pages import all_pages


def main() -> None:
    """Measure, then print the table on standard output; what is being measured goes to standard error."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write", type=Path, help="write the page of figures, too")
    arguments = parser.parse_args()
    start = time.monotonic()
    rows = measure()
    seconds = time.monotonic() - start
    print(json.dumps(report.as_data(rows, seconds), indent=1) if arguments.json else report.as_text(rows))
    if arguments.write:
        arguments.write.write_text(report.as_page(rows, seconds), encoding="utf-8")
    if not arguments.json:
        print(f"measured in {seconds:.0f} s")


def measure() -> list[Row]:
    """Every benchmark's rows."""
    pages = all_pages()
    steps = {
        "pages to Arrow": lambda: [row for page in pages for row in page_to_arrow.rows(page)],
        "places of a page": lambda: [row for page in pages for row in peeking.rows(page)],
        "receiving": receiving.rows,
        "whole loads": whole_history.rows,
        "import": importing.rows,
        "starting the sandbox": sandbox_start.rows,
        "memory": memory.rows,
        "the lake": lake.rows,
        "objects": objects.rows,
        "analyses": analyses.rows,
        "economics": economics.rows,
        "report": html_report.rows,
    }
    found: list[Row] = []
    for name, step in steps.items():
        print(f"measuring {name} ...", file=sys.stderr)
        found += step()
    for row in found:
        if row.below:
            print(f"warning: {row.what} is below its aim against {row.baseline}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
