"""The items of the history as they are rendered, read back: by snapshots, by the participant's reads."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

NULL: Final = Raw(b"null")


class ScanEvent(Struct):
    """An event of scan's tree; which members count depends on `event_type`. Values stay as they are written."""

    event_type: str
    contract_id: str = ""
    template_id: str = ""
    package_name: str = ""
    create_arguments: Raw = NULL
    created_at: str = ""
    signatories: list[str] = []
    observers: list[str] = []
    choice: str = ""
    choice_argument: Raw = NULL
    exercise_result: Raw = NULL
    child_event_ids: list[str] = []
    consuming: bool = False
    acting_parties: list[str] = []
    interface_id: str | None = None


class ScanLeg(Struct):
    """One leg of a reassignment."""

    submitter: str
    source_synchronizer: str
    target_synchronizer: str
    unassign_id: str
    reassignment_counter: int
    contract_id: str = ""
    created_event: ScanEvent | None = None


class Item(Struct):
    """An item of scan's page: a leg of a reassignment in `event`, or else a transaction."""

    update_id: str
    record_time: str
    migration_id: int = 0
    workflow_id: str = ""
    effective_at: str = ""
    root_event_ids: list[str] = []
    events_by_id: dict[str, ScanEvent] = {}
    event: ScanLeg | None = None


read_item: Final = msgspec.json.Decoder(Item).decode
