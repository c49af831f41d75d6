"""`check`: what the files of a store alone can prove about it; `Store.check` calls it."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.anomalies import reassignment_anomalies
from ledgerframes.errors import visible
from ledgerframes.paging.window import Window
from ledgerframes.store.history import ORDER
from ledgerframes.store.lake import Lake, View, declared
from ledgerframes.store.parts import Part
from ledgerframes.store.reading import rows_of
from ledgerframes.store.snapshots import SNAPSHOTS

#: What a sound ledger never shows; repairs and lone assignments it does.
_UNSOUND: Final = (
    "counter not increasing", "counter differs", "contract differs", "target differs", "assigned twice",
    "unassigned twice",
)  # fmt: skip
_SYNC_AGAIN: Final = "sync into a new store and compare with verify; keep this one as it is"


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Attributes:
        name: what is wrong.
        severity: "error", or "note" for what does no harm.
        count: how often.
        example: one case.
        advice: what to do.
    """

    name: str
    severity: Literal["error", "note"]
    count: int
    example: str
    advice: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name} ({self.count:,}), such as {self.example}. {self.advice}"


@dataclass(frozen=True)
class Check:
    """What a check found; true if there is no error.

    Attributes:
        store: which.
        rows: how many rows were looked at, by table.
        findings: what was found, errors first.
    """

    store: str
    rows: dict[str, int]
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return all(one.severity != "error" for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return asdict(self) | {"sound": bool(self)}

    def to_json(self) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        looked = ", ".join(f"{count:,} {name}" for name, count in self.rows.items())
        lines = [f"{self.store} is {'sound' if self else 'not sound'}: {looked or 'nothing stored'}"]
        lines += [
            f"{one.severity}: {one.name} ({one.count:,}), such as {one.example}. {one.advice}" for one in self.findings
        ]
        return "\n".join(map(visible, lines))

    def __repr__(self) -> str:
        return f"<Check\n{self}>"

    def _repr_html_(self) -> str:
        return "<pre>" + html.escape(str(self)) + "</pre>"


def check(lake: Lake) -> Check:
    """Look at every key, count and counter in a store; nothing is changed and no server is asked."""
    view = lake.view()
    present = [name for name, table in view.tables.items() if table.exists]
    gone = list(_missing_files(view))
    if gone:
        return Check(lake.url, {}, tuple(gone))
    findings: list[Finding] = []
    rows = {}
    if set(ORDER) <= set(present):
        history = _History(view)
        rows = history.rows
        findings += history.findings()
    for name in present:
        if name in SNAPSHOTS:
            data = Part.of(view, name, Window(), allow_partial=True).dataset.to_table(columns=list(declared(name).key))
            rows[name] = data.num_rows
            findings += _repeated(data, list(declared(name).key), name)
    findings.sort(key=lambda one: one.severity != "error")
    return Check(lake.url, rows, tuple(findings))


def _missing_files(view: View) -> Iterator[Finding]:
    for name, table in view.tables.items():
        if table.handle is None or "://" in table.url:
            continue
        files = [uri for uri in table.handle.file_uris() if not Path(uri.removeprefix("file://")).exists()]
        if files:
            yield Finding(
                f"{name}: files that the log names are gone", "error", len(files), Path(files[0]).name,
                f"restore them from a copy, or {_SYNC_AGAIN}",
            )  # fmt: skip


class _History:
    """The columns of the history that checks need, cut to what is covered."""

    def __init__(self, view: View) -> None:
        self._view = view
        place = ["migration_id", "record_time", "record_month", "update_id"]
        self._updates = self._read("updates", [*place, "kind", "event_count"])
        self._events = self._read("events", [*place, "event_id"])
        halves = ["kind", "source_synchronizer", "target_synchronizer", "unassign_id", "reassignment_counter"]
        self._halves = self._read("reassignments", [*place, *halves, "contract_id"])
        self.rows = {
            "updates": self._updates.num_rows,
            "events": self._events.num_rows,
            "reassignments": self._halves.num_rows,
        }

    def _read(self, name: str, columns: list[str]) -> pa.Table:
        return Part.of(self._view, name, Window(), allow_partial=True).dataset.to_table(columns=columns)

    def findings(self) -> Iterator[Finding]:
        """Everything that is wrong."""
        yield from _repeated(self._updates, ["update_id"], "updates")
        yield from _repeated(self._events, ["update_id", "event_id"], "events")
        yield from _repeated(self._halves, ["update_id"], "reassignments")
        yield from self._counts()
        yield from self._halves_of_updates()
        yield from self._months()
        yield from self._left_over()
        yield from self._counters()

    def _counts(self) -> Iterator[Finding]:
        """Every update has as many events as it says, and every event an update."""
        counted = self._events.group_by("update_id").aggregate([([], "count_all")])
        transactions = self._updates.filter(pc.equal(self._updates["kind"], "transaction"))
        joined = transactions.select(["update_id", "event_count"]).join(counted, "update_id", join_type="full outer")
        said, there = pc.fill_null(joined["event_count"], -1), pc.fill_null(joined["count_all"], 0)
        orphans = joined.filter(pc.less(said, 0))
        yield from _found(orphans, "update_id", "events: their update is missing", _SYNC_AGAIN)
        wrong = joined.filter(pc.and_(pc.greater_equal(said, 0), pc.not_equal(said, there)))
        yield from _found(wrong, "update_id", "updates: the number of events is not what the update says", _SYNC_AGAIN)

    def _halves_of_updates(self) -> Iterator[Finding]:
        """Every reassignment has its row, and every such row its update."""
        own = self._updates.filter(pc.not_equal(self._updates["kind"], "transaction"))
        lone = own.filter(pc.invert(pc.is_in(own["update_id"], self._halves["update_id"].combine_chunks())))
        yield from _found(lone, "update_id", "updates: the reassignment's row is missing", _SYNC_AGAIN)
        orphans = self._halves.filter(pc.invert(pc.is_in(self._halves["update_id"], own["update_id"].combine_chunks())))
        yield from _found(orphans, "update_id", "reassignments: their update is missing", _SYNC_AGAIN)

    def _months(self) -> Iterator[Finding]:
        for name, data in (("updates", self._updates), ("events", self._events), ("reassignments", self._halves)):
            said = pc.strftime(data["record_time"], format="%Y-%m")
            wrong = data.filter(pc.not_equal(pc.utf8_lpad(said, 7, "0"), data["record_month"]))
            yield from _found(wrong, "update_id", f"{name}: record_month is not the record time's month", _SYNC_AGAIN)

    def _left_over(self) -> Iterator[Finding]:
        """Rows that a crash left in one table, which readers do not see."""
        for name in ORDER:
            outside = (
                self._view.tables[name].dataset().to_table(columns=["update_id"], filter=~rows_of(self._view.covered))
            )
            yield from _found(
                outside, "update_id", f"{name}: rows outside of what is covered, left by a sync that was stopped",
                "readers do not see them; the next sync completes them", severity="note",
            )  # fmt: skip

    def _counters(self) -> Iterator[Finding]:
        anomalies = reassignment_anomalies(self._halves)
        for name in _UNSOUND:
            own = anomalies[anomalies["anomaly"] == name]
            if len(own):
                yield Finding(
                    f"reassignments: {name}", "error", len(own), own["update_id"].iloc[0],
                    "compare with another server by lf.cross_check: the ledger or the store is wrong",
                )  # fmt: skip


def _repeated(data: pa.Table, key: list[str], name: str) -> Iterator[Finding]:
    counted = data.group_by(key).aggregate([([], "count_all")])
    twice = counted.filter(pc.greater(counted["count_all"], 1))
    yield from _found(twice, key[0], f"{name}: the key {', '.join(key)} is there more than once", _SYNC_AGAIN)


def _found(
    rows: pa.Table, column: str, name: str, advice: str, *, severity: Literal["error", "note"] = "error"
) -> Iterator[Finding]:
    if rows.num_rows:
        yield Finding(name, severity, rows.num_rows, str(rows[column][0].as_py()), advice)
