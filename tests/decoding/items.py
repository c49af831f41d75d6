"""Small update items for tests of decoding: plain, and changed member by member (`...` leaves one out)."""

import json
from decimal import Decimal

from ledgerframes.decoding.history import ALL
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage

TEMPLATE = "3ca1343ab26b453d38c8adb70dca5f1ead8440c42b59b68f070786955cbf9ec1:Splice.Amulet:Amulet"


def decoded(body, *, tables=ALL, rows=None):
    """The columns of a page, whoever decodes it; errors are those of the Python path."""
    try:
        page = HistoryPage.read(body)
    except (DecodeError, *UNREADABLE):
        return UPDATE_HISTORY.decode_body(body, tables=tables, rows=rows)
    return UPDATE_HISTORY.decode_pages([(page, range(len(page)) if rows is None else rows)], tables=tables)


def changed(members, changes):
    merged = {**members, **changes}
    return {name: value for name, value in merged.items() if value is not ...}


def _event(kind, event_id):
    return {
        "event_type": kind, "event_id": event_id, "contract_id": f"00{event_id}", "template_id": TEMPLATE,
        "package_name": "splice-amulet",
    }  # fmt: skip


def created(event_id, **changes):
    members = {
        "create_arguments": {"owner": "alice", "amount": {"initialAmount": "10.0000000000"}},
        "created_at": "2026-01-30T08:39:28.485596Z", "signatories": ["alice", "dso"], "observers": [],
    }  # fmt: skip
    return changed(_event("created_event", event_id) | members, changes)


def exercised(event_id, children=(), **changes):
    members = {
        "choice": "Transfer", "choice_argument": {"n": "1"}, "child_event_ids": list(children),
        "exercise_result": {"ok": True}, "consuming": True, "acting_parties": ["alice"], "interface_id": None,
    }  # fmt: skip
    return changed(_event("exercised_event", event_id) | members, changes)


def transaction(events=None, **changes):
    by_id = {
        "u:0": exercised("u:0", ["u:2"]), "u:1": created("u:1"), "u:10": created("u:10"),
        "u:2": exercised("u:2", ["u:10"]),
    }  # fmt: skip
    for event_id, members in (events or {}).items():
        by_id[event_id] = changed(by_id[event_id], members)
    members = {
        "update_id": "u", "migration_id": 3, "workflow_id": "", "record_time": "2026-01-30T08:39:28.485596Z",
        "synchronizer_id": "sync-a::12", "effective_at": "2026-01-30T08:39:27.000000Z",
        "root_event_ids": ["u:0", "u:1"], "events_by_id": by_id,
    }  # fmt: skip
    return changed(members, changes)


def _reassignment(update_id, second, migration_id, contract, changes):
    event = {
        "submitter": "alice", "source_synchronizer": "sync-a::12", "target_synchronizer": "sync-b::12",
        "migration_id": migration_id, "unassign_id": "0001", "reassignment_counter": 1,
    }  # fmt: skip
    return {
        "update_id": update_id, "offset": "000000000000000001", "record_time": f"2026-01-30T08:40:{second:02}.000000Z",
        "event": changed(event | contract, changes),
    }  # fmt: skip


def unassignment(**changes):
    return _reassignment("v", 1, 3, {"contract_id": "00c"}, changes)


def assignment(created=None, **changes):  # the keyword is the event inside
    return _reassignment("w", 2, 4, {"created_event": changed(_created("w:0"), created or {})}, changes)


_created = created


def to_json(value):
    """JSON text with decimals as they are spelled."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{to_json(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def page_of(*items):
    return ('{"transactions":[' + ",".join(map(to_json, items)) + "]}").encode()
