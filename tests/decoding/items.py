"""Small update items for tests of decoding: plain, and changed member by member (`...` leaves one out)."""

import json
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa

from ledgerframes.decoding.pages import decode_page
from ledgerframes.decoding.rebuild import rebuild_rows

TEMPLATE = "3ca1343ab26b453d38c8adb70dca5f1ead8440c42b59b68f070786955cbf9ec1:Splice.Amulet:Amulet"


def changed(members, changes):
    merged = {**members, **changes}
    return {name: value for name, value in merged.items() if value is not ...}


def created(event_id, **changes):
    members = {
        "event_type": "created_event",
        "event_id": event_id,
        "contract_id": f"00{event_id}",
        "template_id": TEMPLATE,
        "package_name": "splice-amulet",
        "create_arguments": {"owner": "alice", "amount": {"initialAmount": "10.0000000000"}},
        "created_at": "2026-01-30T08:39:28.485596Z",
        "signatories": ["alice", "dso"],
        "observers": [],
    }
    return changed(members, changes)


def exercised(event_id, children=(), **changes):
    members = {
        "event_type": "exercised_event",
        "event_id": event_id,
        "contract_id": f"00{event_id}",
        "template_id": TEMPLATE,
        "package_name": "splice-amulet",
        "choice": "Transfer",
        "choice_argument": {"n": "1"},
        "child_event_ids": list(children),
        "exercise_result": {"ok": True},
        "consuming": True,
        "acting_parties": ["alice"],
        "interface_id": None,
    }
    return changed(members, changes)


def transaction(events=None, **changes):
    by_id = {
        "u:0": exercised("u:0", ["u:2"]),
        "u:1": created("u:1"),
        "u:10": created("u:10"),
        "u:2": exercised("u:2", ["u:10"]),
    }
    for event_id, members in (events or {}).items():
        by_id[event_id] = changed(by_id[event_id], members)
    members = {
        "update_id": "u",
        "migration_id": 3,
        "workflow_id": "",
        "record_time": "2026-01-30T08:39:28.485596Z",
        "synchronizer_id": "sync-a::12",
        "effective_at": "2026-01-30T08:39:27.000000Z",
        "root_event_ids": ["u:0", "u:1"],
        "events_by_id": by_id,
    }
    return changed(members, changes)


def _reassignment(update_id, second, event):
    return {
        "update_id": update_id,
        "offset": "000000000000000001",
        "record_time": f"2026-01-30T08:40:{second:02}.000000Z",
        "event": event,
    }


def unassignment(**changes):
    members = {
        "submitter": "alice",
        "source_synchronizer": "sync-a::12",
        "target_synchronizer": "sync-b::12",
        "migration_id": 3,
        "unassign_id": "0001",
        "reassignment_counter": 1,
        "contract_id": "00c",
    }
    return _reassignment("v", 1, changed(members, changes))


def assignment(created=None, **changes):  # the keyword is the event inside
    members = {
        "submitter": "alice",
        "source_synchronizer": "sync-a::12",
        "target_synchronizer": "sync-b::12",
        "migration_id": 4,
        "unassign_id": "0001",
        "reassignment_counter": 1,
        "created_event": changed(_created("w:0"), created or {}),
    }
    return _reassignment("w", 2, changed(members, changes))


_created = created


def to_json(value):
    """JSON text with decimals as they are spelled."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{to_json(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def page_of(*items):
    return page_of_texts(map(to_json, items))


def page_of_texts(texts):
    return ('{"transactions":[' + ",".join(texts) + "]}").encode()


def rebuilt(body):
    """Decode a page and rebuild its items."""
    batches = {name: _rows(batch) for name, batch in decode_page(body).batches.items()}
    events_of = defaultdict(list)
    for row in batches["events"]:
        events_of[row["update_id"]].append(row)
    halves = {row["update_id"]: row for row in batches["reassignments"]}
    return list(rebuild_rows(batches["updates"], events_of, halves))


def _rows(batch):
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in batch.columns]
    return pa.table(columns, names=batch.schema.names).to_pylist()
