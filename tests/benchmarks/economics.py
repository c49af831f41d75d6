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
from ledgerframes.models.computing import together
from ledgerframes.tables.derived import DERIVED
from tests.benchmarks.measuring import UNKNOWN, Row, highest

EVENTS: Final = 1_000_000
UPDATES: Final = 20_000
#: Aims for the tables of `FIRST`: seconds of processor time, seconds of wall time on two cores, and times the input.
SECONDS: Final = 10.5
WALL: Final = 4.0
INPUT: Final = 1.5
FIRST: Final = (
    *("round_history", "rewards", "sv_rewards", "transfers", "token_transfers", "traffic_purchases", "mint_burn"),
    *("coin_history", "supply", "supply_per_round", "balances_over_time"),
    *("active_parties", "template_activity", "validator_liveness"),
)
BASELINE: Final = "json.loads of every payload and result, once"
TABLES: Final = tuple(table.endpoints[0].removeprefix("lf.").partition("(")[0] for table in DERIVED.values())
#: What the middle of every contract id of the sandbox is; another number there makes other ids.
_OF_CONTRACTS: Final = "ca1012"
_OWN: Final = f"{_OF_CONTRACTS}20"


def rows() -> list[Row]:
    """One row per table alone, then those of `FIRST` and all of them in one run, and the highest memory of each run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.arrow"
        count, size, read = _write(file)
        # In processes of their own, in which nothing else was ever in memory.
        alone = _measured("alone", file)
        shared = {names: _measured("together", file, *names) for names in (FIRST, TABLES)}
    what = f"of {count:,} events, processor time"
    found = [
        Row(what=f"lf.{name} {what}", baseline=BASELINE, ours=spent * 1e3, theirs=read * 1e3)
        for name, spent in alone.items()
    ]
    for names, measured in shared.items():
        every = f"{len(names)} tables of {count:,} events in one run"
        spent, wall, resident = (measured[name] for name in ("processor", "wall", "resident"))
        aim = 1.0 if names is FIRST else None
        found += [
            Row(what=f"{every}, processor time", baseline=BASELINE, ours=spent * 1e3, theirs=read * 1e3),
            Row(
                what=f"{every}, processor time", baseline=f"{SECONDS} s", ours=spent * 1e3, theirs=SECONDS * 1e3,
                aim=aim,
            ),
            Row(what=f"{every}, wall time", baseline=f"{WALL} s", ours=wall * 1e3, theirs=WALL * 1e3, aim=aim),
            Row(
                what=f"memory of {every}, resident, with their input", baseline=f"{INPUT} times the input",
                ours=resident / 1e6, theirs=INPUT * size / 1e6, unit="MB", aim=aim,
                skipped="" if resident else UNKNOWN,
            ),
        ]  # fmt: skip
    return found


def _write(file: Path) -> tuple[int, int, float]:
    """Write the events; how many there are, their bytes, and the seconds in which the baseline reads them."""
    events = million()
    feather.write_feather(events, file, compression="uncompressed")
    return events.num_rows, events.nbytes, _spent(lambda: _read(events))


def _measured(how: str, file: Path, *names: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.economics", how, str(file), *names]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _alone(file: str) -> dict[str, float]:
    """Processor time by table, each computed by itself."""
    events = feather.read_table(file, memory_map=False)
    return {name: _spent(lambda name=name: table_of(name, events)) for name in TABLES}  # type: ignore[misc]


def _together(file: str, *names: str) -> dict[str, float]:
    """Processor time, wall time and highest resident memory of these tables in one run."""
    events = feather.read_table(file, memory_map=False)

    def compute() -> None:
        with together(events, opening="nothing") as inputs:
            for name in names:
                table_of(name, inputs)

    start = time.perf_counter()
    spent = _spent(compute)
    wall = time.perf_counter() - start
    return {"processor": spent, "wall": wall, "resident": highest()}


def table_of(name: str, events: Any) -> pa.Table:
    """A table of events that begin with the ledger."""
    function = getattr(lf, name)
    begun = {"opening": "nothing"} if "opening" in inspect.signature(function).parameters else {}
    found: pa.Table = function(events, as_="arrow", **begun)
    return found


def million() -> pa.Table:
    """A sandbox's history, many times over under new ids and at later times."""
    with lf.sandbox(updates=UPDATES) as net:
        events = lf.load_history(net, start="begin", as_="arrow", progress=False).events
    copies, span = -(-EVENTS // events.num_rows), span_of(events)
    return pa.concat_tables([copied(events, number, span) for number in range(copies)]).combine_chunks()


def span_of(events: pa.Table) -> int:
    """The microseconds from the first event to after the last."""
    times = events["record_time"].cast(pa.int64())
    span: int = pc.max(times).as_py() - pc.min(times).as_py() + 1
    return span


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
    print(json.dumps({"alone": _alone, "together": _together}[sys.argv[1]](*sys.argv[2:])))
