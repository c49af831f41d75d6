"""`check`: everything that can be proved about a store from its files alone; `Store.check` calls it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import visible
from ledgerframes.paging.cursor import Window
from ledgerframes.results import Result
from ledgerframes.store.checks.active_contracts import check_active_contracts
from ledgerframes.store.checks.findings import CheckFinding
from ledgerframes.store.checks.soundness import REPAIR, Fault, Soundness
from ledgerframes.store.delta.damage import READ_ERRORS
from ledgerframes.store.delta.storage_errors import is_panic
from ledgerframes.store.delta.stored_files import Damage
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import Part
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import declared
from ledgerframes.store.sync.snapshots import SNAPSHOTS
from ledgerframes.store.table_sets import SETS
from ledgerframes.store.view import View
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS

_NEWER: Final = "load another snapshot and go by its loaded_at"


@dataclass(frozen=True, repr=False)
class Check(Result):
    """The result of a check; true if there is no error.

    Attributes:
        store: its URL.
        rows: the number of rows checked, by table.
        findings: the findings, errors first.
    """

    store: str
    rows: dict[str, int]
    findings: tuple[CheckFinding, ...]

    def __bool__(self) -> bool:
        return all(finding.severity != "error" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return super().to_dict() | {"sound": bool(self)}

    def __str__(self) -> str:
        checked = ", ".join(f"{count:,} {name}" for name, count in self.rows.items())
        lines = [f"{self.store} is {'sound' if self else 'not sound'}: {checked or 'nothing stored'}"]
        return "\n".join(map(visible, [*lines, *map(str, self.findings)]))


def check(lake: Lake, *, full: bool = False) -> Check:
    """Check every file, key, count and counter of a store; nothing is changed and no server is asked.

    Args:
        lake: the store.
        full: also hash all bytes of all files.

    Raises:
        StoreError: there is no store, or a log cannot be read.
    """
    view = lake.raw_view()
    findings = _lost(lake)
    findings += _damaged(view, full=full)
    # With files or entries missing, every count below would be wrong for that reason alone.
    if findings:
        return Check(lake.url, {}, tuple(findings))
    try:
        rows, findings = _checked(view)
    except BaseException as error:
        # Hashing every file is slow, so it is done only once a read has failed.
        findings = _damaged(view, full=True) if isinstance(error, READ_ERRORS) or is_panic(error) else []
        if not findings:
            raise
        return Check(lake.url, {}, tuple(findings))
    return Check(lake.url, rows, tuple(sorted(findings, key=lambda finding: finding.severity != "error")))


def _checked(view: View) -> tuple[dict[str, int], list[CheckFinding]]:
    findings: list[CheckFinding] = []
    rows: dict[str, int] = {}
    for of in filter(view.has, SETS):
        history = Soundness(view, of)
        findings += _grouped(history.faults())
        rows |= {name: history.rows[name] for name in of.shown}
        findings += [
            CheckFinding(
                f"{name}: rows outside of what is covered, left by a sync that was stopped", "note", count, update_id,
                "readers do not see them; the next sync completes them",
            )
            for name, count, update_id in history.left_over()
        ]  # fmt: skip
    for name in view.stored:
        if name == ACTIVE_CONTRACTS.name:
            rows[name], own = check_active_contracts(view)
            findings += own
        elif name in SNAPSHOTS or name in DERIVED_TABLES:
            key = list(declared(name).key)
            data = Part.of(view, name, Window(), allow_partial=True).dataset.to_table(columns=key)
            rows[name] = data.num_rows
            again = "run store.repair(); the next derive computes it again" if name in DERIVED_TABLES else _NEWER
            findings += _repeated(data, key, name, again)
    return rows, findings


def _grouped(faults: Iterator[Fault]) -> list[CheckFinding]:
    """One finding per kind of fault, with the first one as the example."""
    counts: Counter[str] = Counter()
    first: dict[str, Fault] = {}
    for fault in faults:
        counts[fault.name] += 1
        first.setdefault(fault.name, fault)
    return [CheckFinding(name, "error", counts[name], fault.update_id, fault.advice) for name, fault in first.items()]


def _lost(lake: Lake) -> list[CheckFinding]:
    """One finding per table that differs from the state in which it was left."""
    losses = Root(lake, strict=False).open().losses()
    return [
        CheckFinding(f"{loss.table}: the table is missing, or entries of its log are", "error", 1, str(loss), REPAIR)
        for loss in losses
    ]


def _damaged(view: View, *, full: bool) -> list[CheckFinding]:
    """One finding per table and kind of damage."""
    by_kind: dict[str, list[Damage]] = {}
    for name, table in view.stored.items():
        for damage in () if table.files is None else table.files.damages(full=full):
            what = "files that the log names are gone" if damage.is_gone else "files are damaged"
            by_kind.setdefault(f"{name}: {what}", []).append(damage)
    return [
        CheckFinding(name, "error", len(damages), f"{damages[0].file.path} ({damages[0].why})", REPAIR)
        for name, damages in by_kind.items()
    ]


def _repeated(data: pa.Table, key: list[str], name: str, advice: str) -> Iterator[CheckFinding]:
    counted = data.group_by(key).aggregate([([], "count_all")])
    twice = counted.filter(pc.greater(counted["count_all"], 1))
    if twice.num_rows:
        yield CheckFinding(
            f"{name}: the key {', '.join(key)} occurs more than once", "error", twice.num_rows,
            str(twice[key[0]][0].as_py()), advice,
        )  # fmt: skip
