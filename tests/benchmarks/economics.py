"""Every table of the economics from a million events, against reading their JSON once with `json.loads`."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather

import ledgerframes as lf
from ledgerframes.tables.derived import DERIVED
from tests.benchmarks.measuring import Row

EVENTS: Final = 1_000_000
UPDATES: Final = 20_000
#: Aims, in seconds of processor time and in times the input.
SECONDS: Final = 15.0
INPUT: Final = 1.5
BASELINE: Final = "json.loads of every payload and result, once"
TABLES: Final = tuple(table.endpoints[0].removeprefix("lf.").partition("(")[0] for table in DERIVED.values())
#: What the middle of every contract id of the sandbox is; another number there makes other ids.
_OF_CONTRACTS: Final = "ca1012"
_OWN: Final = f"{_OF_CONTRACTS}20"


def rows() -> list[Row]:
    """One row per table, then all of them, and the highest memory of any."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.arrow"
        count, size, read = _write(file)
        # In a process of its own, in which nothing else was ever in memory.
        command = [sys.executable, "-m", "tests.benchmarks.economics", str(file)]
        measured = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    what = f"of {count:,} events, processor time"
    seconds = measured["seconds"]
    whole = sum(seconds.values())
    found = [
        Row(what=f"lf.{name} {what}", baseline=BASELINE, ours=spent * 1e3, theirs=read * 1e3)
        for name, spent in seconds.items()
    ]
    every = f"all {len(TABLES)} tables {what}"
    found.append(Row(what=every, baseline=BASELINE, ours=whole * 1e3, theirs=read * 1e3))
    found.append(Row(what=every, baseline="15 s", ours=whole * 1e3, theirs=SECONDS * 1e3, aim=1.0))
    found.append(
        Row(
            what="memory of the tables, Arrow's peak with its input",
            baseline="1.5 times the input",
            ours=measured["peak"] / 1e6,
            theirs=INPUT * size / 1e6,
            unit="MB",
            aim=1.0,
        )
    )
    return found


def _write(file: Path) -> tuple[int, int, float]:
    """Write the events; how many there are, their bytes, and the seconds in which the baseline reads them."""
    events = million()
    feather.write_feather(events, file, compression="uncompressed")
    return events.num_rows, events.nbytes, _spent(lambda: _read(events))


def _measure(file: str) -> dict[str, Any]:
    """Processor time by table, and Arrow's highest memory."""
    events = feather.read_table(file, memory_map=False)
    seconds = {name: _spent(lambda name=name: table_of(name, events)) for name in TABLES}  # type: ignore[misc]
    return {"seconds": seconds, "peak": pa.default_memory_pool().max_memory()}


def table_of(name: str, events: pa.Table) -> pa.Table:
    """A table of events that begin with the ledger."""
    function = getattr(lf, name)
    begun = {"opening": "nothing"} if "opening" in inspect.signature(function).parameters else {}
    found: pa.Table = function(events, as_="arrow", **begun)
    return found


def million() -> pa.Table:
    """A sandbox's history, many times over under new ids and at later times."""
    with lf.sandbox(updates=UPDATES) as net:
        events = lf.load_history(net, start="begin", as_="arrow", progress=False).events
    times = events["record_time"].cast(pa.int64())
    span = pc.max(times).as_py() - pc.min(times).as_py() + 1
    copies = -(-EVENTS // events.num_rows)
    return pa.concat_tables([_copy(events, number, span) for number in range(copies)]).combine_chunks()


def _copy(events: pa.Table, number: int, span: int) -> pa.Table:
    columns: dict[str, Any] = {name: events[name] for name in events.column_names}
    for name in ("update_id", "event_id", "parent_event_id"):
        columns[name] = pc.binary_join_element_wise(pa.scalar(str(number)), events[name], ".")
    for name in ("contract_id", "payload", "exercise_result"):
        columns[name] = pc.replace_substring(events[name], _OWN, f"{_OF_CONTRACTS}{20 + number}")
    later = pc.add(events["record_time"].cast(pa.int64()), number * span)
    columns["record_time"] = later.cast(events.schema.field("record_time").type)
    return pa.table({name: columns[name].cast(events.schema.field(name).type) for name in events.column_names})


def _read(events: pa.Table) -> None:
    """What a script does first."""
    for name in ("payload", "exercise_result"):
        for chunk in events[name].chunks:
            for text in chunk.to_pylist():
                if text is not None:
                    json.loads(text, parse_float=Decimal)


def _spent(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
