"""Reading only each item's place and id, which is what paging waits for, against parsing the page."""

from __future__ import annotations

import orjson

from ledgerframes.decoding.page_index import peek
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.pages import BenchmarkPage

PARSING = "orjson.loads alone"


def rows(page: BenchmarkPage) -> list[Row]:
    """The ratio for a page."""
    what = f"{page.name} -> places and ids"
    if page.skipped:
        return [Row(what=what, baseline=PARSING, skipped=page.skipped)]
    found = side_by_side({"ours": lambda: peek(page.body), PARSING: lambda: orjson.loads(page.body)}, repeat=3)
    return [Row(what=what, ours=found["ours"], baseline=PARSING, theirs=found[PARSING], size=len(page.body))]
