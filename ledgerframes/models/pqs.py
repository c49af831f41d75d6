"""`events_from_pqs`: rows of a participant query store (PQS) as events, which every computed table takes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import flag, suggesting
from ledgerframes.errors import IncompleteFiguresWarning, InputError, warn
from ledgerframes.frames import shape, to_pandas
from ledgerframes.models.inputs import columns_of
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
#: Columns that either of them may lack.
_OPTIONAL: Final = (
    "payload_type", "transaction_id", "package_id", "signatories", "observers", "archive_event_id", "controllers",
    "last_descendant_node_id",
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
    made, done = _read(creates, _CREATES, "creates"), _read(exercises, _EXERCISES, "exercises")
    made = made[made["payload_type"] != "interface"].reset_index(drop=True)
    begins = _rows(made, "create", "created_effective_at", payload="payload")
    begins = begins.assign(event_type="created_event", created_at=begins["record_time"], last=begins["node_index"])
    ends = _rows(done, "exercise", "exercised_effective_at", payload="argument").assign(
        event_type="exercised_event",
        choice=done["choice"],
        consuming=done["consuming"].map(bool, na_action="ignore"),
        exercise_result=done["result"].map(_json, na_action="ignore"),
        acting_parties=done["controllers"],
        interface_id=done["choice"].map(_interface),
        last=done["last_descendant_node_id"],
    )
    rows = pd.concat([begins, ends]).sort_values(["offset", "node_index"], kind="stable", ignore_index=True)
    seen = {*zip(ends["offset"], ends["node_index"], strict=True)}
    unseen = sum(_pair(cell, "archive_event_id") not in seen for cell in made["archive_event_id"].dropna())
    if unseen:
        warn(
            f"events_from_pqs: {unseen:,} contracts were archived by events that are not among the exercises; give all"
            " of exercises(), of a PQS that keeps them",
            IncompleteFiguresWarning,
        )
    trees = "last_descendant_node_id" in columns_of(exercises) or done.empty
    return _shaped(rows, trees=trees, begun=begun, unseen=unseen)


def _read(frame: Any, needed: tuple[str, ...], name: str) -> pd.DataFrame:
    """The rows of a caller's frame with all columns that are read; those that it may lack are null."""
    rows = to_pandas(frame, needed, name=name, giver=f"{name}() of PQS")
    there = [column for column in (*needed, *_OPTIONAL) if column in rows]
    return rows[there].reindex(columns=[*needed, *_OPTIONAL]).reset_index(drop=True)


def _rows(frame: pd.DataFrame, kind: str, effective: str, *, payload: str) -> pd.DataFrame:
    """The columns that creates and exercises share."""
    ids = [_pair(cell, f"{kind}_event_id") for cell in frame[f"{kind}_event_id"]]
    # Offsets of one length are in order as texts, too.
    offsets = pd.Series([f"{offset:020}" for offset, _ in ids], dtype="string")
    parts = frame["template_fqn"].astype(object).map(str).str.split(":")
    for wrong in frame["template_fqn"][parts.str.len() < 2]:
        raise InputError(
            f"template_fqn {str(wrong)!r} is not a template's name: give PACKAGE:MODULE:ENTITY, as PQS has it"
        )
    names = parts.str[-2:].str.join(":")
    return pd.DataFrame(
        {
            "offset": [offset for offset, _ in ids],
            "node_index": [node for _, node in ids],
            "update_id": frame["transaction_id"].astype("string").fillna(offsets),
            "record_time": [to_micros(cell, "effective time") for cell in frame[effective]],
            "contract_id": frame["contract_id"],
            "template_name": names,
            "template_id": frame["package_id"].astype("string") + ":" + names,
            "package_name": parts.str[0].where(parts.str.len() > 2),
            "payload": frame[payload].map(_json, na_action="ignore"),
            "signatories": frame["signatories"],
            "observers": frame["observers"],
        },
        dtype=object,
    )


def _shaped(rows: pd.DataFrame, *, trees: bool, begun: bool, unseen: int) -> pd.DataFrame:
    """The events as a table with their provenance."""
    times, lasts = rows["record_time"].to_list(), rows["last"].fillna(-1).astype("int64").to_list()
    found = tree_positions(rows["update_id"].to_list(), rows["node_index"].to_list(), lasts)
    months = [f"{pd.Timestamp(time, unit='us'):%Y-%m}" for time in times]
    rows = rows.assign(migration_id=0, record_month=months, **{name: found[name].to_pylist() for name in found})
    if not trees:
        rows[["parent_event_id", "depth"]] = None
    rows = rows.reindex(columns=EVENTS.names).astype(object)
    arrays = {field.name: pa.array(rows[field.name], field.type, from_pandas=True) for field in EVENTS.schema}
    low, high = (format_timestamp(of(times)) if times else None for of in (min, max))
    attrs = {
        "source": "PQS", "range": f"{low} to {high}" if times else "empty", "cursor": [0, high] if times else None,
        "complete": not unseen, "from_beginning": begun, "begins_late": None, "archived_unseen": unseen,
        "version": __version__, "rows": len(rows),
    }  # fmt: skip
    events: pd.DataFrame = shape(pa.table(arrays), EVENTS, attrs=attrs)
    return events


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


def _json(cell: Any) -> str:
    """A JSONB cell as text."""
    read = isinstance(cell, dict | list)
    return json.dumps(cell, ensure_ascii=False, separators=(",", ":")) if read else str(cell)
