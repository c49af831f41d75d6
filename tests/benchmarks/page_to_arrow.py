"""A page's bytes to the three tables' record batches, against parsing it, against flattening it, and against both.

Measured in processor time. simdjson's parse, which makes no values of what it has parsed, stands there as the limit.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import util
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa

from ledgerframes.decoding.splitting import raws_of
from ledgerframes.interfaces.paged_histories import TOGETHER, UPDATE_HISTORY, HistoryPage
from tests.benchmarks.measuring import Row, side_by_side
from tests.benchmarks.pages import BenchmarkPage
from tests.benchmarks.plain_script import flatten
from tests.decoding.items import decoded

AIMS = {
    "orjson.loads alone": 3.0,
    "pandas.json_normalize of the parsed page": 5.0,
    "json.loads and pandas.json_normalize": None,
}
DUCKDB = "DuckDB's read_json, seven members of an event"
SIMDJSON = "simdjson's parse alone"
ONE_THREAD, THREADS = "one thread", 2
WHOLE, SMALL = "one page of 1,000", 50
USUAL, AS_SCRIPTS = "the page as it is", "json.loads and pandas.json_normalize"
CREATED = re.compile(rb'("created_at":"[^".]+)\.\d+Z')
SCHEMA = """{transactions: 'STRUCT(update_id VARCHAR, record_time VARCHAR, events_by_id MAP(VARCHAR, STRUCT(
    event_type VARCHAR, contract_id VARCHAR, template_id VARCHAR, create_arguments JSON, choice_argument JSON)))[]'}"""


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
    sides = {"ours": lambda: decoded(page.body), **dict(zip(AIMS, calls, strict=True))}
    found = side_by_side(sides, clock=time.process_time)
    size = len(page.body)
    return [
        *(
            Row(what=what, ours=found["ours"], baseline=baseline, theirs=found[baseline], aim=aim, size=size)
            for baseline, aim in AIMS.items()
        ),
        _against_simdjson(page, what),
        _small(page),
        *_unusual(page),
        _in_threads(page, what),
        _against_duckdb(page, what),
    ]


def _against_simdjson(page: BenchmarkPage, what: str) -> Row:
    if util.find_spec("simdjson") is None:
        return Row(what=what, baseline=SIMDJSON, skipped="pysimdjson is not installed")
    import simdjson

    parser = simdjson.Parser()
    calls = {"ours": lambda: decoded(page.body), SIMDJSON: lambda: parser.parse(page.body)}
    found = side_by_side(calls, clock=time.process_time)
    return Row(
        what=what, ours=found["ours"], baseline=SIMDJSON, theirs=found[SIMDJSON], aim=1 / 3, size=len(page.body)
    )  # fmt: skip


def _small(page: BenchmarkPage) -> Row:
    """The same items in pages of 50, from bytes to cursors and columns, as loads and syncs decode them."""
    raws = raws_of(page.body)
    bodies = [b'{"transactions":[%b]}' % b",".join(raws[at : at + SMALL]) for at in range(0, len(raws), SMALL)]
    several = TOGETHER * len(bodies) // len(page.body)
    groups = [bodies[at : at + several] for at in range(0, len(bodies), several)]

    def small() -> None:
        for group in groups:
            pages = [HistoryPage.read(body) for body in group]
            UPDATE_HISTORY.decode_pages([(page, range(len(page))) for page in pages])

    def whole() -> None:
        decoded(page.body)

    found = side_by_side({"ours": small, WHOLE: whole}, clock=time.process_time)
    what = f"{page.name} as pages of {SMALL} -> places and Arrow"
    return Row(what=what, ours=found["ours"], baseline=WHOLE, theirs=found[WHOLE], aim=0.8, size=len(page.body))


def _unusual(page: BenchmarkPage) -> list[Row]:
    """Pages as a later release may send them, and as other writers may spell them: no item is of the usual form."""
    items = orjson.loads(page.body)["transactions"]
    for item in items:
        for place in (item, *item.get("events_by_id", {}).values()):
            place["a_later_member"] = {"number": 1, "texts": ["as", "sent"]}
    later = orjson.dumps({"transactions": items})
    spelled = json.dumps(json.loads(CREATED.sub(rb"\1.25Z", page.body)), ensure_ascii=True).encode()
    escaped = spelled.replace(b"_id", rb"\u005fid")  # only the Python path reads such names
    pages = {
        "with unknown members": (later, USUAL, 0.5),
        "with spaces and other times": (spelled, AS_SCRIPTS, 2.0),
        "with escapes in names": (escaped, AS_SCRIPTS, 2.0),
    }
    rows = []
    for name, (body, baseline, aim) in pages.items():
        calls = {
            "ours": partial(decoded, body),
            baseline: partial(decoded, page.body) if baseline == USUAL else partial(_by_script, body),
        }
        found = side_by_side(calls, clock=time.process_time)
        what = f"{page.name} {name} -> Arrow"
        rows.append(
            Row(what=what, ours=found["ours"], baseline=baseline, theirs=found[baseline], aim=aim, size=len(body))
        )
    return rows


def _by_script(body: bytes) -> None:
    flatten(json.loads(body)["transactions"])


def _in_threads(page: BenchmarkPage, what: str) -> Row:
    """How much sooner two threads have decoded as many pages as one; this is about the time that passes."""
    pages = [page.body] * 8 * THREADS
    with ThreadPoolExecutor(THREADS) as threads:
        calls = {
            "ours": lambda: list(threads.map(decoded, pages)),
            ONE_THREAD: lambda: [decoded(body) for body in pages],
        }
        found = side_by_side(calls)
    return Row(
        what=f"{what}, {THREADS} threads", ours=found["ours"], baseline=ONE_THREAD, theirs=found[ONE_THREAD], aim=1.5,
        size=len(pages) * len(page.body),
    )  # fmt: skip


def _against_duckdb(page: BenchmarkPage, what: str) -> Row:
    """Measured apart from the others, for its threads and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.json"
        file.write_bytes(page.body)
        calls = {"ours": lambda: decoded(page.body), DUCKDB: lambda: _by_duckdb(file)}
        assert calls[DUCKDB]().num_rows == decoded(page.body)["events"].num_rows
        found = side_by_side(calls, rounds=3)
    return Row(what=what, ours=found["ours"], baseline=DUCKDB, theirs=found[DUCKDB], size=len(page.body))


def _by_duckdb(file: Path) -> pa.Table:
    read = f"read_json('{file}', columns={SCHEMA}, maximum_object_size={file.stat().st_size + 1})"
    items = f"select unnest(transactions) as item from {read}"
    events = f"select item.update_id, item.record_time, unnest(map_values(item.events_by_id)) as event from ({items})"
    return duckdb.connect().sql(events).to_arrow_table()
