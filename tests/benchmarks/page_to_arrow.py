"""A page's bytes to the three tables' record batches, against parsing it, against flattening it, and against both."""

from __future__ import annotations

import json

import orjson

from ledgerframes.decoding.history import decode_page
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.pages import BenchmarkPage
from tests.benchmarks.plain_script import flatten

AIMS = {
    "orjson.loads alone": 1.5,
    "pandas.json_normalize of the parsed page": 5.0,
    "json.loads and pandas.json_normalize": None,
}


def rows(page: BenchmarkPage) -> list[Row]:
    """A ratio for each baseline."""
    what = f"{page.name} -> Arrow"
    if page.skipped:
        return [Row(what=what, baseline=baseline, skipped=page.skipped) for baseline in AIMS]
    parsed = orjson.loads(page.body)["transactions"]
    calls = (
        lambda: orjson.loads(page.body),
        lambda: flatten(parsed),
        lambda: flatten(json.loads(page.body)["transactions"]),
    )
    found = side_by_side({"ours": lambda: decode_page(page.body), **dict(zip(AIMS, calls, strict=True))})
    size = len(page.body)
    return [
        Row(what=what, ours=found["ours"], baseline=baseline, theirs=found[baseline], aim=aim, size=size)
        for baseline, aim in AIMS.items()
    ]
