"""`events_from_pqs`: rows of a participant query store (PQS) as events, which every computed table takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import flag, suggesting
from ledgerframes.errors import IncompleteFiguresWarning, InputError, warn
from ledgerframes.frames import shape, to_pandas
from ledgerframes.models.ledger_frames import tree_positions
from ledgerframes.models.token_reads import STANDARD
from ledgerframes.tables.history import EVENTS
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.version import __version__

_CREATES: Final = ("template_fqn", "create_event_id", "created_effective_at", "contract_id", "payload")
_EXERCISES: Final = (
    "template_fqn", "choice", "consuming", "exercise_event_id", "exercised_effective_at", "contract_id", "argument",
    "result",
)  # fmt: skip
#: The modules of the token standard's interfaces. Rows of PQS name none, but its choices begin with theirs.
_STANDARD: Final = {
    "TransferFactory": "TransferInstructionV1", "TransferInstruction": "TransferInstructionV1",
    "AllocationFactory": "AllocationInstructionV1", "Allocation": "AllocationV1", "BurnMintFactory": "BurnMintV1",
}  # fmt: skip
_PAIR: Final = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*\)?")


@suggesting
def events_from_pqs(creates: Any, exercises: Any, *, from_beginning: bool = False) -> pd.DataFrame:
    """Read what a participant query store (PQS) returns as a frame of events, which every computed table takes.

    PQS keeps in a Postgres database what a participant's parties see, tokens of other issuers too. Give the rows of its
    functions `creates()` and `exercises()` as any library reads them. Views of interfaces are left out, since the same
    contract is there by its template. PQS has no record times: the ledger effective time, which never goes back from a
    contract to what uses it, takes their place.

    Args:
        creates: a frame of `creates()`; with a column `transaction_id` of its table of transactions, joined by
            `created_at_ix`, updates have their ids, else their offsets.
        exercises: a frame of `exercises()`, of the same templates or more, likewise. Without its column
            `last_descendant_node_id` of newer releases the events above an event are unknown.
        from_beginning: whether you know that these rows begin where the participant's ledger does, and that PQS was
            neither pruned nor begun at a later offset.

    Returns:
        One row per event, in the order of the ledger, with the columns of `lf.describe("events")`; `migration_id` is 0,
        `synchronizer_id` null, `interface_id` that of the token standard's choices, by their names, else null.
        `attrs` say what the rows prove: `complete` is False where a contract was archived by an event that is not among
        the exercises, and `archived_unseen` counts these.

    Raises:
        InputError: these are not frames of PQS, columns are missing, or the ids of events are not (offset, node).

    Example:
        >>> import pandas as pd, ledgerframes as lf
        >>> creates = pd.DataFrame({
        ...     "template_fqn": ["splice-amulet:Splice.Amulet:Amulet"], "create_event_id": ["(42,0)"],
        ...     "created_effective_at": [pd.Timestamp("2026-03-01T09:00Z")], "contract_id": ["00ab"], "payload": ["{}"],
        ... })
        >>> exercises = pd.DataFrame(columns=["template_fqn", "choice", "consuming", "exercise_event_id",
        ...     "exercised_effective_at", "contract_id", "argument", "result"])
        >>> lf.events_from_pqs(creates, exercises).template_name[0]
        'Splice.Amulet:Amulet'
    """
    begun = flag(from_beginning, "from_beginning")
    made = to_pandas(creates, _CREATES, name="creates", giver="creates() of PQS")
    done = to_pandas(exercises, _EXERCISES, name="exercises", giver="exercises() of PQS")
    if "payload_type" in made:
        made = made[made["payload_type"] != "interface"]
    begins = _rows(made, "create", payload="payload") | {
        "event_type": ["created_event"] * len(made), "choice": [None] * len(made), "consuming": [None] * len(made),
        "exercise_result": [None] * len(made), "acting_parties": [None] * len(made), "interface_id": [None] * len(made),
        "created_at": _moments(made["created_effective_at"]), "last": _nodes(made, "create_event_id"),
    }  # fmt: skip
    known = "last_descendant_node_id" in done
    ends = _rows(done, "exercise", payload="argument") | {
        "event_type": ["exercised_event"] * len(done), "choice": done["choice"].to_list(),
        "consuming": [None if _absent(cell) else bool(cell) for cell in done["consuming"]],
        "exercise_result": [_json(cell) for cell in done["result"]], "acting_parties": _lists(done, "controllers"),
        "created_at": [None] * len(done), "interface_id": [_interface(choice) for choice in done["choice"]],
        "last": done["last_descendant_node_id"].to_list() if known else [None] * len(done),
    }  # fmt: skip
    columns = {name: [*begins[name], *ends[name]] for name in begins}
    order = sorted(range(len(columns["place"])), key=columns["place"].__getitem__)
    rows = {name: [cells[at] for at in order] for name, cells in columns.items()}
    unseen = _unseen(made, set(ends["place"]))
    if unseen:
        warn(
            f"events_from_pqs: {unseen:,} contracts were archived by events that are not among the exercises; give all"
            " of exercises(), of a PQS that keeps them",
            IncompleteFiguresWarning,
        )
    return _shaped(rows, trees=known or not len(done), begun=begun, unseen=unseen)


def _rows(frame: pd.DataFrame, kind: str, *, payload: str) -> dict[str, list[Any]]:
    """The columns that creates and exercises share."""
    ids = [_pair(cell, f"{kind}_event_id") for cell in frame[f"{kind}_event_id"]]
    named = frame["transaction_id"] if "transaction_id" in frame else [None] * len(frame)
    # Offsets of one length are in order as texts, too.
    updates = [f"{place[0]:020}" if _absent(name) else str(name) for place, name in zip(ids, named, strict=True)]
    parts = [str(name).split(":") for name in frame["template_fqn"]]
    wrong = next((":".join(one) for one in parts if len(one) < 2), None)
    if wrong is not None:
        raise InputError(f"template_fqn {wrong!r} is not a template's name: give PACKAGE:MODULE:ENTITY, as PQS has it")
    names = [":".join(one[-2:]) for one in parts]
    packages = frame["package_id"] if "package_id" in frame else [None] * len(frame)
    effective = "created_effective_at" if kind == "create" else "exercised_effective_at"
    return {
        "place": ids, "update_id": updates, "record_time": _moments(frame[effective]),
        "contract_id": frame["contract_id"].to_list(), "template_name": names,
        "template_id": [None if _absent(package) else f"{package}:{name}"
                        for package, name in zip(packages, names, strict=True)],
        "package_name": [one[0] if len(one) > 2 else None for one in parts],
        "payload": [_json(cell) for cell in frame[payload]], "signatories": _lists(frame, "signatories"),
        "observers": _lists(frame, "observers"),
    }  # fmt: skip


def _shaped(rows: dict[str, list[Any]], *, trees: bool, begun: bool, unseen: int) -> pd.DataFrame:
    """The events as a table with their provenance."""
    times, count = rows.pop("record_time"), len(rows["update_id"])
    nodes = [node for _, node in rows.pop("place")]
    lasts = [-1 if _absent(last) else int(last) for last in rows.pop("last")]
    found = {name: cells.to_pylist() for name, cells in tree_positions(rows["update_id"], nodes, lasts).items()}
    if not trees:
        found |= dict.fromkeys(("parent_event_id", "depth"), [None] * count)
    columns = rows | found | {
        "migration_id": [0] * count, "record_time": times,
        "record_month": [f"{pd.Timestamp(time, unit='us'):%Y-%m}" for time in times],
    }  # fmt: skip
    arrays = {field.name: pa.array(columns.get(field.name, [None] * count), field.type) for field in EVENTS.schema}
    low, high = (format_timestamp(of(times)) if times else None for of in (min, max))
    attrs = {
        "source": "PQS", "range": f"{low} to {high}" if times else "empty", "cursor": [0, high] if times else None,
        "complete": not unseen, "from_beginning": begun, "begins_late": None, "archived_unseen": unseen,
        "version": __version__, "rows": count,
    }  # fmt: skip
    events: pd.DataFrame = shape(pa.table(arrays), EVENTS, attrs=attrs)
    return events


def _unseen(made: pd.DataFrame, seen: set[tuple[int, int]]) -> int:
    """The number of contracts that were archived by events missing from the exercises."""
    if "archive_event_id" not in made:
        return 0
    ids = [_pair(cell, "archive_event_id") for cell in made["archive_event_id"] if not _absent(cell)]
    return sum(one not in seen for one in ids)


def _pair(cell: Any, column: str) -> tuple[int, int]:
    """The id of an event as offset and node: a composite of Postgres as a tuple, a record or its text."""
    if isinstance(cell, str) and (found := _PAIR.fullmatch(cell)):
        return int(found[1]), int(found[2])
    parts = list(cell.values()) if isinstance(cell, dict) else cell
    if isinstance(parts, Sequence) and not isinstance(parts, str) and len(parts) == 2:
        return int(parts[0]), int(parts[1])
    raise InputError(f"{column} {str(cell)[:80]!r} is not (offset, node); older releases of PQS have other ids")


def _interface(choice: Any) -> str | None:
    """The interface of the token standard that a choice belongs to, by its name."""
    entity = str(choice).partition("_")[0]
    return f"Splice.Api.Token.{_STANDARD[entity]}:{entity}" if choice in STANDARD else None


def _nodes(frame: pd.DataFrame, column: str) -> list[int]:
    return [_pair(cell, column)[1] for cell in frame[column]]


def _moments(cells: Iterable[Any]) -> list[int]:
    """Microseconds since 1970 in UTC."""
    return [to_micros(cell, "effective time") for cell in cells]


def _json(cell: Any) -> str | None:
    """A JSONB cell as text; null if it was redacted."""
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False, separators=(",", ":"))
    return None if _absent(cell) else str(cell)


def _lists(frame: pd.DataFrame, column: str) -> list[list[str] | None]:
    cells: Iterable[Any] = frame[column] if column in frame else [None] * len(frame)
    return [None if _absent(cell) else list(cell) for cell in cells]


def _absent(cell: Any) -> bool:
    return cell is None or cell is pd.NaT or cell is pd.NA or (isinstance(cell, float) and cell != cell)
