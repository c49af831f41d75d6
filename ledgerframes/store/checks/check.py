"""`check`: everything that can be proved about a store from its files alone; `Store.check` calls it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ledgerframes.errors import visible
from ledgerframes.number_format import rows_text
from ledgerframes.paging.cursor import Window
from ledgerframes.results import Result
from ledgerframes.store.checks.soundness import REPAIR, Fault, answers, covered_rows, faults
from ledgerframes.store.delta.storage_errors import may_be_damage
from ledgerframes.store.delta.stored_files import GONE, Damage
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import Part, rejected_in
from ledgerframes.store.root import Root
from ledgerframes.store.stored_snapshots import State, StoredSnapshot
from ledgerframes.store.stored_tables import SETS, SNAPSHOTS, declared
from ledgerframes.store.sync.report import SYNCS
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS

_NEWER: Final = "load another snapshot and go by its loaded_at"


@dataclass(frozen=True)
class CheckFinding:
    """One finding of a check of a store.

    Attributes:
        name: what is wrong.
        severity: "error", or "note" if it does no harm.
        count: the number of cases.
        example: one case.
        advice: the remedy.
    """

    name: str
    severity: Literal["error", "note"]
    count: int
    example: str
    advice: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name} ({self.count:,}), such as {self.example}. {self.advice}"


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
        none = "nothing stored" if self else "rows are counted once nothing is missing or damaged"
        lines = [f"{self.store} is {'sound' if self else 'not sound'}: {checked or none}"]
        return "\n".join(map(visible, [*lines, *map(str, self.findings)]))


def check(lake: Lake, *, full: bool = False) -> Check:
    """Check every file, key, count and counter of a store; nothing is changed and no server is asked.

    Args:
        lake: the store.
        full: also read all pages of all files.

    Raises:
        StoreError: there is no store, or a log cannot be read.
    """
    root = lake.existing(strict=False)
    findings = [
        CheckFinding(f"{loss.table}: the table is missing, or entries of its log are", "error", 1, str(loss), REPAIR)
        for loss in root.losses()
    ]
    findings += _damaged(root, full=full)
    # With files or entries missing, every count below would be wrong for that reason alone.
    if findings:
        return Check(lake.url, {}, tuple(findings))
    try:
        rows, findings = _checked(root)
    except BaseException as error:
        # To read every file is slow, so it is done only once a read has failed.
        findings = _damaged(root, full=True) if may_be_damage(error) else []
        if not findings:
            raise
        return Check(lake.url, {}, tuple(findings))
    return Check(lake.url, rows, tuple(sorted(findings, key=lambda finding: finding.severity != "error")))


def _checked(root: Root) -> tuple[dict[str, int], list[CheckFinding]]:
    findings: list[CheckFinding] = []
    rows: dict[str, int] = {}
    for of in filter(root.has, SETS):
        covered = covered_rows(root, of)
        findings += _grouped(faults(covered, of))
        rows |= {name: covered[name].count_rows() for name in of.shown}
        if aside := rejected_in(root, of):
            what, advice = (
                f"items put aside that {of.pages.index} and figures lack",
                "store.retry_rejects(net) tries again",
            )
            findings.append(CheckFinding(what, "note", aside, "the first of store.load('rejects')", advice))
    for name in root.stored:
        if name == ACTIVE_CONTRACTS.name:
            rows[name], own = _of_active_contracts(root)
            findings += own
        elif name in SNAPSHOTS or name in DERIVED_TABLES:
            data = Part.of(root, name, Window(), allow_partial=True).dataset
            rows[name] = data.count_rows()
            again = "run store.repair(); the next derive computes it again" if name in DERIVED_TABLES else _NEWER
            findings += _repeated(data, declared(name).key, name, again)
    return rows, findings


def _of_active_contracts(root: Root) -> tuple[int, list[CheckFinding]]:
    """Compare every snapshot with its entry in the document: it is complete, and has each contract once."""
    name, findings = ACTIVE_CONTRACTS.name, list[CheckFinding]()
    query = "select loaded_at, count(*) as rows, count(distinct contract_id) as ids from contracts group by loaded_at"
    counted = {one["loaded_at"]: one for one in answers({"contracts": root.shown(name).dataset()}, query)}
    total = sum(one["rows"] for one in counted.values())
    for snapshot in root.document.snapshots:
        own = counted.pop(snapshot.loaded_at, {"rows": 0, "ids": 0})
        findings += _of_snapshot(name, snapshot, own["rows"], own["ids"])
    if beside := sum(one["rows"] for one in counted.values()):
        advice = "they belong to no known snapshot: sync into a new store"
        findings.append(CheckFinding(f"{name}: rows of no snapshot", "error", beside, rows_text(total), advice))
    return total - beside, findings


def _of_snapshot(name: str, snapshot: StoredSnapshot, count: int, distinct: int) -> Iterator[CheckFinding]:
    where = f"the snapshot of {snapshot.cursor}"
    if snapshot.state is State.READING:
        advice = "readers do not see it; the next sync of the same snapshot resumes it"
        yield CheckFinding(f"{name}: a snapshot that is not whole", "note", 1, where, advice)
    if snapshot.state is State.DAMAGED:
        advice = "readers do not see it; a sync reads it again if it is still the newest"
        yield CheckFinding(f"{name}: a snapshot that lost rows to a repair", "note", 1, where, advice)
    elif count != snapshot.rows:
        advice = f"there were {snapshot.rows:,}: run store.repair()"
        example = f"{count:,} in {where}"
        yield CheckFinding(f"{name}: a snapshot has more or fewer rows than stored", "error", 1, example, advice)
    if distinct != count:
        name = f"{name}: the key contract_id occurs more than once"
        yield CheckFinding(name, "error", count - distinct, where, _NEWER)


def _grouped(found: Iterator[Fault]) -> list[CheckFinding]:
    """One finding per kind of fault, with the first one as the example."""
    counts: Counter[str] = Counter()
    first: dict[str, Fault] = {}
    for fault in found:
        counts[fault.name] += 1
        first.setdefault(fault.name, fault)
    return [CheckFinding(name, "error", counts[name], fault.update_id, REPAIR) for name, fault in first.items()]


def _damaged(root: Root, *, full: bool) -> list[CheckFinding]:
    """One finding per table and kind of damage."""
    by_kind: dict[str, list[Damage]] = {}
    for name, table in (root.stored | {SYNCS.name: root.shown(SYNCS.name)}).items():
        for damage in table.files.damages(full=full):
            what = "files that the log names are gone" if damage.why.startswith(GONE) else "files are damaged"
            by_kind.setdefault(f"{name}: {what}", []).append(damage)
    return [
        CheckFinding(name, "error", len(damages), f"{damages[0].file.path} ({damages[0].why})", REPAIR)
        for name, damages in by_kind.items()
    ]


def _repeated(data: Any, key: Sequence[str], name: str, advice: str) -> Iterator[CheckFinding]:
    listed = ", ".join(key)
    query = f"select {key[0]} as example from rows group by {listed} having count(*) > 1 order by {listed}"
    if twice := answers({"rows": data}, query):
        what = f"{name}: the key {listed} occurs more than once"
        yield CheckFinding(what, "error", len(twice), str(twice[0]["example"]), advice)
