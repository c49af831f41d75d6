"""Tables of the economics from a million events, each alone and together, against a script's reading and their aims."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.tables.derived import DERIVED
from tests.benchmarks.measuring import UNKNOWN, Row, highest

EVENTS: Final = 1_000_000
UPDATES: Final = 20_000
#: Aims: seconds of processor time, seconds of wall time on two cores, and times the input.
SECONDS: Final = 10.5
WALL: Final = 4.0
INPUT: Final = 1.5
FIRST: Final = (
    *("round_history", "rewards", "sv_rewards", "transfers", "token_transfers", "traffic_purchases", "mint_burn"),
    *("coin_history", "supply", "supply_per_round", "balances_over_time"),
    *("active_parties", "template_activity", "validator_liveness"),
)
TABLES: Final = tuple(table.endpoints[0].removeprefix("lf.").partition("(")[0] for table in DERIVED.values())
#: What the middle of every contract id of the sandbox is; another number there makes other ids.
_OF_CONTRACTS: Final = "ca1012"
_OWN: Final = f"{_OF_CONTRACTS}20"


def rows() -> list[Row]:
    """The wall time of each table alone; then both times and the highest memory of those of `FIRST` in one run."""
    events, _ = repeated(UPDATES, EVENTS)
    what = f"{len(FIRST)} tables of {events.num_rows:,} events in one run"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.arrow"
        feather.write_feather(events.combine_chunks(), file, compression="uncompressed")
        told, alone = _measured("together", file), _measured("alone", file)
    read = alone.pop("read")
    return [
        Row(
            what=f"lf.{name} of {events.num_rows:,} events, alone", baseline="json.loads of every payload, once",
            ours=spent * 1e3, theirs=read * 1e3,
        )
        for name, spent in alone.items()
    ] + [
        Row(
            what=f"{what}, {name} time", baseline=f"{limit} s", ours=told[name] * 1e3, theirs=limit * 1e3, aim=1.0
        )
        for name, limit in (("processor", SECONDS), ("wall", WALL))
    ] + [
        Row(
            what=f"memory of {what}, resident, with their input", baseline=f"{INPUT} times the input",
            ours=told["resident"] / 1e6, theirs=INPUT * events.nbytes / 1e6, unit="MB", aim=1.0,
            skipped="" if told["resident"] else UNKNOWN,
        )
    ]  # fmt: skip


def _measured(how: str, file: Path) -> dict[str, float]:
    """In a process of its own, in which nothing else was ever in memory."""
    command = [sys.executable, "-m", "tests.benchmarks.economics", how, str(file)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _alone(file: str) -> dict[str, float]:
    """Wall time by table, each computed by itself, and that of the baseline under `read`."""
    events = feather.read_table(file, memory_map=False)
    taken = {name: _taken(lambda name=name: table_of(name, events)) for name in TABLES}  # type: ignore[misc]
    texts = (text for name in ("payload", "exercise_result") for text in events[name].drop_null().to_pylist())
    return taken | {"read": _taken(lambda: [json.loads(text, parse_float=Decimal) and None for text in texts])}


def _taken(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _together(file: str) -> dict[str, float]:
    """Processor time, wall time and highest resident memory of the tables in one run."""
    events = feather.read_table(file, memory_map=False)
    wall, processor = time.perf_counter(), time.process_time()
    with together(events, opening="nothing") as inputs:
        for name in FIRST:
            table_of(name, inputs)
    spent = {"processor": time.process_time() - processor, "wall": time.perf_counter() - wall}
    return spent | {"resident": highest()}


def table_of(name: str, events: Any) -> pa.Table:
    """A table of events that begin with the ledger."""
    function = getattr(lf, name)
    begun = {"opening": "nothing"} if "opening" in inspect.signature(function).parameters else {}
    found: pa.Table = function(events, as_="arrow", **begun)
    return found


def repeated(updates: int, events: int) -> tuple[pa.Table, pa.Table]:
    """A sandbox's history of so many updates, over and over: at least so many events, and the reassignments."""
    found: list[tuple[pa.Table, pa.Table]] = []
    for one in copies(updates):
        found.append(one)
        if sum(part.num_rows for part, _ in found) >= events:
            break
    return pa.concat_tables(one for one, _ in found), pa.concat_tables(one for _, one in found)


def copies(updates: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The events and reassignments of a sandbox without end, each time under new ids and later."""
    with lf.sandbox(updates=updates) as net:
        history = lf.load_history(net, start="begin", as_="arrow", progress=False)
    times = history.events["record_time"].cast(pa.int64())
    span = pc.max(times).as_py() - pc.min(times).as_py() + 1
    for number in count():
        yield copied(history.events, number, span), copied(history.reassignments, number, span)


def copied(rows: pa.Table, number: int, span: int) -> pa.Table:
    """The same events or reassignments once more, under ids of their own and so many times a span later."""
    columns: dict[str, Any] = {name: rows[name] for name in rows.column_names}
    for name in columns.keys() & {"update_id", "event_id", "parent_event_id", "unassign_id"}:
        columns[name] = pc.binary_join_element_wise(pa.scalar(str(number)), rows[name], ".")
    for name in columns.keys() & {"contract_id", "payload", "exercise_result"}:
        columns[name] = pc.replace_substring(rows[name], _OWN, f"{_OF_CONTRACTS}{20 + number}")
    later = pc.add(rows["record_time"].cast(pa.int64()), number * span)
    columns["record_time"] = later.cast(rows.schema.field("record_time").type)
    return pa.table({name: columns[name].cast(rows.schema.field(name).type) for name in rows.column_names})


if __name__ == "__main__":
    print(json.dumps({"alone": _alone, "together": _together}[sys.argv[1]](sys.argv[2])))
