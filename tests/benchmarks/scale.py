"""What a history of any length costs: `python -m tests.benchmarks.scale [--events N …] [--write docs/scale.md]`.

Histories of several lengths are synced by pages and from objects, and every computed table is made of their Parquet,
each in a process of its own. What the two longest say about one more event carries the estimates.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

import ledgerframes as lf
from tests.benchmarks import report
from tests.benchmarks.economics import TABLES, copies, table_of
from tests.benchmarks.long_history import events_in, items
from tests.benchmarks.measuring import highest
from tests.benchmarks.objects import as_objects
from tests.benchmarks.servers import bulk_scan

LENGTHS: Final = (100_000, 1_000_000, 10_000_000)
#: Events of the network, and events in an update of a captured page of it.
MAINNET: Final = 3_600_000_000
PER_UPDATE: Final = 3.44
REQUESTS: Final = 8  # per second
PAGE: Final = 1000
CORES: Final = (2, 8, 32)
UPDATES: Final = 20_000  # of the sandbox, whose events are repeated
WORKERS: Final = 4
ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one process took.

    Attributes:
        events: how many there were.
        processor: seconds, of all threads.
        wall: seconds.
        resident: megabytes at the highest.
        disk: megabytes written.
    """

    events: int
    processor: float
    wall: float
    resident: float
    disk: float = 0.0


def measure(lengths: Sequence[int]) -> dict[str, list[Cost]]:
    """The costs at each length, by what was done."""
    found: dict[str, list[Cost]] = {}
    for length in lengths:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for what, cost in chain(_synced(folder, length), _computed(folder, length)):
                print(f"{length:,} events, {what}: {cost.processor:.1f} s", file=sys.stderr)
                found.setdefault(what, []).append(cost)
    return found


def _synced(folder: Path, length: int) -> Iterator[tuple[str, Cost]]:
    updates = length * UPDATES // events_in(UPDATES)
    events = events_in(updates)
    with bulk_scan(updates) as url:
        yield "pages", _cost(events, "pages", url, folder / "pages")
    with as_objects(items(0, updates)) as source:
        yield "objects", _cost(events, "objects", source, folder / "objects")


def _computed(folder: Path, length: int) -> Iterator[tuple[str, Cost]]:
    file, count = folder / "events.parquet", 0
    source = (events for events, _ in copies(UPDATES))
    first = next(source)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for events in chain([first], source):
            writer.write_table(events.slice(0, length - count))
            count += min(events.num_rows, length - count)
            if count == length:
                break
    for name in TABLES:
        yield f"lf.{name}", _cost(count, name, file, folder / "nothing")


def _cost(events: int, what: str, source: object, target: Path) -> Cost:
    # The large history begins late, and has choices that no model knows.
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.scale", "--process", what, str(source)]
    done = subprocess.run([*command, str(target)], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    disk = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
    return Cost(events=events, disk=disk, **json.loads(done.stdout))


def _process(what: str, source: str, target: str) -> None:
    """Do one thing, and print what it took."""
    start = time.perf_counter()
    if what == "pages":
        with lf.connect(scan_url=source) as net:
            lf.open_store(target).sync(net, workers=WORKERS, progress=False)
    elif what == "objects":
        with lf.open_objects(source) as net:
            lf.open_store(target).sync(net, workers=WORKERS, progress=False)
    else:
        table_of(what, source)
    wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {"processor": used.ru_utime + used.ru_stime, "wall": wall, "resident": highest() / 1e6}
    print(json.dumps({name: round(value, 3) for name, value in told.items()}))


def as_page(costs: dict[str, list[Cost]], lengths: Sequence[int], seconds: float) -> str:
    """The costs and what follows from them, as a page of the documents."""
    syncs = [
        [
            f"sync from {what}, {cost.events:,} events",
            *map(_number, (cost.processor, cost.wall, cost.resident, cost.disk)),
        ]
        for what in ("pages", "objects")
        for cost in costs[what]
    ]
    tables = [
        [
            f"`{what}`",
            *(_number(cost.processor) for cost in found),
            _number(found[-1].resident),
            *(_hours(_more(found) * MAINNET / cores) for cores in CORES),
        ]
        for what, found in costs.items()
        if what.startswith("lf.")
    ]
    columns = [f"{cost.events:,} events, s" for cost in costs[f"lf.{TABLES[0]}"]]
    columns += ["memory at the longest, MB", *(f"network on {cores} cores, h" for cores in CORES)]
    machine = [f"- {name}: {value}" for name, value in report.machine().items()]
    measured = f"Measured on {datetime.now(UTC):%Y-%m-%d} in {seconds / 60:.0f} minutes, on:"
    command = f"python -m tests.benchmarks.scale --events {' '.join(map(str, lengths))} --write docs/scale.md"
    lines = ["# What a history of any length costs", "", f"Made by `{command}`.", *_INTRODUCTION]
    lines += [*_table(["what", "processor, s", "wall, s", "memory, MB", "disk, MB"], syncs), ""]
    lines += [*_TABLES, *_table(["table", *columns], tables), ""]
    lines += [*_NETWORK, *_table(["what", "figure"], _network(costs)), "", *_CLUSTER]
    return "\n".join([*lines, measured, "", *machine, ""])


def _network(costs: dict[str, list[Cost]]) -> list[list[str]]:
    """What the whole network takes."""
    updates = MAINNET / PER_UPDATE
    page = b"".join(items(0, PAGE))
    share = MAINNET / events_in(PAGE)
    plain, packed = (share * len(sent) / 1e12 for sent in (page, gzip.compress(page, 6)))
    found = [
        ["requests by pages of 1,000 updates", f"{updates / PAGE:,.0f}"],
        ["hours by pages at 8 requests per second", _hours(updates / PAGE / REQUESTS)],
        ["terabytes of pages, unpacked", _number(plain)],
        ["terabytes of pages, by gzip", _number(packed)],
        ["hours to receive them by gzip at 100 Mbit/s", _hours(packed * 1e6 / 12.5)],
    ]
    for what in ("pages", "objects"):
        spent = _more(costs[what]) * MAINNET
        found += [[f"hours of processors, sync from {what}, {cores} cores", _hours(spent / cores)] for cores in CORES]
    return [*found, ["terabytes of the lake", _number(_more(costs["pages"], "disk") * MAINNET / 1e6)]]


def _more(costs: list[Cost], what: str = "processor") -> float:
    """What one more event costs, by the two longest histories."""
    shorter, longer = costs[-2:]
    return max(0.0, getattr(longer, what) - getattr(shorter, what)) / (longer.events - shorter.events)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:.2f}"


def _hours(seconds: float) -> str:
    return _number(seconds / 3600)


def _table(heading: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---", *["--:"] * (len(heading) - 1)]
    return [f"| {' | '.join(row)} |" for row in (heading, rule, *rows)]


_INTRODUCTION: Final = (
    "",
    "Every figure is measured by this command, or follows from what it measured as the page says. Each line is a",
    "process of its own. *Processor* is the time of all its threads, which others on the same cores make longer;",
    "*memory* its highest resident memory, *disk* what it wrote. Servers run on the same machine: *wall* includes the",
    "waiting for them, *processor* nothing of theirs.",
    "",
    "## Syncs",
    "",
)
_TABLES: Final = (
    "## Computed tables",
    "",
    "Each table is computed from one Parquet file of a sandbox's events, repeated under new ids at later times, with",
    "the same parties and round numbers: what grows with those does not show. Memory is not extrapolated. The",
    f"last columns are the processor time of {MAINNET:,} events, if each further event costs as much as between the",
    "two longest files, divided by the cores: a lower bound, as two cores were measured and not everything runs in",
    "parallel. Tables that `store.derive` keeps are brought up to date from new events.",
    "",
)
_NETWORK: Final = (
    "## A network of 3.6 billion events",
    "",
    f"The same slopes at {MAINNET:,} events, with {PER_UPDATE} events in an update as on a captured page.",
    "Nobody has run this: it says what to plan for, not what happened. A sync takes the longest of the hours of its",
    "requests, of its line and of its processors; the last are a lower bound again.",
    "",
)
_CLUSTER: Final = (
    "## More than one machine",
    "",
    "- **By pages nothing is gained**: a scan limits requests by client, so `engine=` is refused there. Several URLs",
    "  in `scan_url` are failover, not speed.",
    '- **From objects**: with `store.sync(net, source="objects", engine=client)` the workers of a Dask cluster read',
    "  the segments, and one process commits. This was not measured.",
    '- **Reading**: a lake is Delta tables. `store.dask("events")` reads one as a Dask frame, Spark by',
    '  `spark.read.format("delta").load(path)`, DuckDB by `delta_scan(path)`; `lf.model(name)` is the SQL of a',
    "  computed table, which DuckDB runs over them. See [the lake](howto/lake.md) and",
    "  [the SQL of tables](howto/sql-models.md).",
    "",
)


def main() -> None:
    """Measure, and print the page or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--events", type=int, nargs="+", default=LENGTHS, help="the lengths, at least two, ascending")
    parser.add_argument("--write", type=Path, help="write the page there")
    parser.add_argument("--process", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.process:
        _process(*arguments.process)
        return
    start = time.monotonic()
    costs = measure(arguments.events)
    page = as_page(costs, arguments.events, time.monotonic() - start)
    if arguments.write:
        arguments.write.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
