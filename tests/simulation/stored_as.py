"""What a store makes of an item: its tables and how many rows each gets, for the update history and for verdicts.

In a world of verdicts a create is a rejected request, which has no update; an exercise is an update with its verdict;
a reassignment is an update without one, so it has no row at all; a broken item is a verdict whose views have no ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ledgerframes.store.stored_tables import HISTORY, VERDICTS, TableSet
from ledgerframes.timestamps import format_timestamp
from tests.simulation.world import Item, body_of


@dataclass(frozen=True)
class StoredAs:
    """The tables of one kind of world.

    Attributes:
        of: the tables.
        parts: the table with a row per part of an item.
        part_id: the column that numbers the parts.
        third: the remaining table.
    """

    of: TableSet
    parts: str
    part_id: str
    third: str

    @property
    def order(self) -> tuple[str, ...]:
        """The tables in the order of writing."""
        return self.of.order

    @property
    def index(self) -> str:
        """The table with a row per item."""
        return self.of.index

    def counts(self, kind: str) -> Mapping[str, int]:
        """How many rows an item of a kind has in each table."""
        moved = kind in {"assign", "unassign"}
        parts = {"create": 1, "exercise": 2, "genesis": 2}.get(kind, 0)
        if self.of is VERDICTS:
            return {self.index: int(parts > 0), self.parts: parts, self.third: int(kind == "exercise")}
        return {self.index: int(kind != "broken"), self.parts: parts, self.third: int(moved)}

    def has_row(self, item: Item) -> bool:
        """Whether an item has a row in the index."""
        return self.counts(item.kind)[self.index] > 0

    def body(self, items: tuple[Item, ...]) -> bytes:
        """The body of a page."""
        member = self.of.pages.member.encode()
        each = _event_of if self.of is VERDICTS else body_of
        return b'{"%b":[%b]}' % (member, b",".join(map(each, items)))


UPDATES: Final = StoredAs(HISTORY, "events", "event_id", "reassignments")
OF_VERDICTS: Final = StoredAs(VERDICTS, "views", "view_id", "app_activity")


@lru_cache(4096)
def _event_of(item: Item) -> bytes:
    """An item as the event history has it."""
    if item.kind in {"assign", "unassign"}:
        return b'{"update":%b,"verdict":null}' % body_of(item)
    views = [
        {"view_id": number, "informees": ["p"], "confirming_parties": [], "sub_views": [], "view_hash": ""}
        for number in range(len(item.events))
    ]
    time = format_timestamp(item.micros)
    verdict = {
        "update_id": item.update_id, "migration_id": item.migration, "domain_id": item.synchronizer,
        "record_time": time, "finalization_time": time, "submitting_parties": ["p"],
        "submitting_participant_uid": "p", "verdict_result": "VERDICT_RESULT_ACCEPTED", "mediator_group": 0,
        "transaction_views": {"views": [{}] if item.kind == "broken" else views, "root_views": []},
    }  # fmt: skip
    if item.kind != "exercise":
        return b'{"update":null,"verdict":%b}' % json.dumps(verdict).encode()
    activity = json.dumps({"round_number": 1, "records": [{"party": "p", "weight": 1}]}).encode()
    return b'{"update":%b,"verdict":%b,"app_activity_records":%b}' % (
        body_of(item), json.dumps(verdict).encode(), activity,
    )  # fmt: skip
