"""The Scan interface's updates and events, its name rules, licenses and earliest rewarded round, as routes."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct

from ledgerframes.sandbox.http.responses import (
    INT32,
    INT64,
    Int32,
    Int64,
    RefusalError,
    check_size,
    contract_record,
    found,
    read_time,
)
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.templates import NAME_RULES
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.verdicts import Event, events_of
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import Update

LICENSE_MAXIMUM: Final = 1_000

ROUTES: Final = Routes()


@ROUTES.post("/api/scan/v2/updates")
def updates(request: ServerRequest) -> bytes:
    """A page of the history."""
    size, after, carrying = page_request(request)
    page = request.view.page(after, size)
    if carrying:
        page = [update._replace(rendered=type_carrying(update.rendered)) for update in page]
    return b'{"transactions":[' + b",".join([update.rendered for update in page]) + b"]}"


# Before the look-up by id, whose path would match it too.
@ROUTES.get("/api/scan/v2/updates/hash/{hash:path}", since="0.7")
def update_by_hash(request: ServerRequest) -> bytes:
    """An update by the hash of its prepared transaction, which it carries, so the page's form is the right one."""
    wanted = request.part("hash")
    update = request.world.scanned_by_hash(wanted)
    return _item(request, update, f"No update with external transaction hash {wanted} found")


@ROUTES.get("/api/scan/v2/updates/{update_id}")
def update_by_id(request: ServerRequest) -> bytes:
    """An update by its id."""
    wanted = request.part("update_id")
    return _item(request, request.world.scanned(wanted), f"Transaction with id {wanted} not found")


@ROUTES.get("/api/scan/v1/updates/{update_id:path}", removed_in="0.9", in_contract=True)
def update_by_id_v1(request: ServerRequest) -> bytes:
    """An update by its id with a constant offset, and its events in another order."""
    return with_offset(update_by_id(request))


@ROUTES.post("/api/scan/v0/ans-rules")
@ROUTES.post("/api/validator/v0/scan-proxy/ans-rules")
def ans_rules(request: ServerRequest) -> dict[str, Any]:
    """The name service's rules; the contract is left out where both cached ids match."""
    body = request.object()
    rules = found(request.world.rules.get(NAME_RULES.entity), "No AnsRules contract found")
    answer: dict[str, Any] = {}
    cached = (body.get("cached_ans_rules_contract_id"), body.get("cached_ans_rules_domain_id"))
    if cached != (rules.contract_id, rules.synchronizer_id):
        answer["contract"] = contract_record(rules)
    if rules.synchronizer_id is not None:
        answer["domain_id"] = rules.synchronizer_id
    return {"ans_rules_update": answer}


@ROUTES.get("/api/scan/v0/admin/validator/licenses")
def licenses(request: ServerRequest) -> dict[str, Any]:
    """A page of stored rows, newest first, without the archived ones."""
    limit = request.integer("limit", bound=INT32)
    after = request.integer("after", bound=INT64)
    limit = LICENSE_MAXIMUM if limit is None else limit
    check_size("limit", limit, LICENSE_MAXIMUM)
    world = request.world
    stored = [row for row in reversed(world.license_rows) if after is None or row[0] < after][:limit]
    active = [world.contracts.active.get(contract_id) for _, contract_id in stored]
    contracts = [contract_record(contract) for contract in active if contract is not None]
    # A page of archived rows is short and has a token all the same: real pages of 792 for a limit of 1,000 had one.
    token = stored[-1][0] if len(stored) == limit else None
    return {"validator_licenses": contracts, "next_page_token": token}


@ROUTES.get("/api/scan/v0/internal/reward-accounting-process/rounds/earliest-available", since="0.7")
def earliest_round(request: ServerRequest) -> dict[str, Any]:
    """The earliest round with complete records of rewards."""
    return {"earliest_round": found(request.world.earliest_round, "No round with complete reward accounting found")}


def _item(request: ServerRequest, update: Update | None, missing: str) -> bytes:
    carrying = carries_types(request.http.query_params.get("daml_value_encoding"))
    if update is None or not request.view.knows(update):
        raise RefusalError(404, missing)
    return type_carrying(update.rendered) if carrying else update.rendered


class After(Struct):
    """The cursor before a page."""

    after_migration_id: Int64
    after_record_time: str


class PageRequest(Struct):
    """The body of POST /v2/updates and of /v0/events; as on real servers `contract_value_encoding` means nothing."""

    page_size: Int32
    after: After | None = None
    daml_value_encoding: Any = None

    def cursor(self) -> Cursor | None:
        """The cursor before the page; None for the first one.

        Raises:
            RefusalError: 400, its time is none.
        """
        return None if self.after is None else (self.after.after_migration_id, read_time(self.after.after_record_time))


def page_request(request: ServerRequest) -> tuple[int, Cursor | None, bool]:
    """The size of the requested page, the cursor before it, and whether its values carry their types.

    Raises:
        RefusalError: 400, one of them is not valid.
    """
    wanted = request.read(PageRequest)
    check_size("page_size", wanted.page_size, request.server.page_maximum)
    return wanted.page_size, wanted.cursor(), carries_types(wanted.daml_value_encoding)


def carries_types(encoding: Any) -> bool:
    """Whether an encoding's values carry their types.

    Raises:
        RefusalError: 400, the encoding is not known.
    """
    if encoding not in (None, "compact_json", "protobuf_json"):
        raise RefusalError(400, f"Unknown daml_value_encoding: {encoding}")
    return bool(encoding == "protobuf_json")


@ROUTES.post("/api/scan/v0/events")
def events(request: ServerRequest) -> bytes:
    """A page of the event history."""
    size, after, carrying = page_request(request)
    page = _page(request.view, after, size)
    return b'{"events":[' + b",".join(_item_of(event, carrying=carrying) for event in page) + b"]}"


# Before the look-up by id, whose path would match it too.
@ROUTES.get("/api/scan/v0/events/latest-record-time", since="0.9")
def latest(request: ServerRequest) -> dict[str, str]:
    """Up to where POST /v0/events will answer."""
    updates = request.view.page(None, len(request.world.ledger_updates) or 1, private=True)
    if not updates:
        raise RefusalError(404, "No events found")
    newest = max(event for update in updates[-8:] for event in events_of(update))
    return {"record_time": timestamps.exact(newest.record_time)}


@ROUTES.get("/api/scan/v0/events/{update_id:path}")
def event_by_id(request: ServerRequest) -> bytes:
    """The item of an update or of a rejected request."""
    wanted = request.part("update_id")
    carrying = carries_types(request.http.query_params.get("daml_value_encoding"))
    every = (event for update in request.world.ledger_updates for event in events_of(update))
    event = next((event for event in every if event.update_id == wanted), None)
    if event is None or not request.view.knows(event.update):
        raise RefusalError(404, f"Event with id {wanted} not found")
    return _item_of(event, carrying=carrying)


def _page(view: ServerView, after: Cursor | None, size: int) -> list[Event]:
    """The items of this server strictly after a cursor, `size` at most."""
    # A rejected request follows its update by a microsecond, so the update may lie at the cursor itself.
    begin = None if after is None else (after[0], after[1] - 1)
    wanted = size + 8
    while True:
        updates = view.page(begin, wanted, private=True)
        events = sorted(event for update in updates for event in events_of(update))
        whole = len(updates) < wanted
        last = (*updates[-1][:3],) if updates else ()
        sure = [event for event in events if _is_after(event, after) and (whole or _place(event) <= last)]
        if whole or len(sure) >= size:
            return sure[:size]
        wanted *= 2


def _place(event: Event) -> tuple[int, int, str]:
    return event.migration_id, event.record_time, event.update_id


def _is_after(event: Event, after: Cursor | None) -> bool:
    return after is None or (event.migration_id, event.record_time) > tuple(after)


def _item_of(event: Event, *, carrying: bool) -> bytes:
    """An item as JSON; with `carrying`, its update's values in the encoding that carries types."""
    if carrying and event.carried != b"null":
        event = event.carrying(type_carrying(event.carried))
    return event.body


# A constant on real servers as well.
OFFSET: Final = b'"000000000000000001"'

_VALUES: Final = frozenset({"create_arguments", "choice_argument", "exercise_result"})
_PARTY: Final = re.compile(r"[A-Za-z0-9:\-_ ]+::1220[0-9a-f]{64}")
_CONTRACT_ID: Final = re.compile(r"00[0-9a-f]{64}ca101220[0-9a-f]{64}")
_NUMERIC: Final = re.compile(r"-?\d{1,28}\.\d{10}", re.ASCII)

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode


def with_offset(item: bytes) -> bytes:
    """The v1 form of a page's item: a transaction gets the constant offset, its events stand in another order.

    The contract leaves the order of `events_by_id` open there, so it is not the sorted one.
    """
    members = _members(item)
    if "events_by_id" not in members:
        return item
    events = _members(members["events_by_id"])
    # The order of the v1 map is not defined, so it is not the page's order here.
    members["events_by_id"] = msgspec.Raw(_encode(dict(reversed(events.items()))))
    return _encode({"offset": msgspec.Raw(OFFSET), **members})


def type_carrying(item: bytes) -> bytes:
    """The `protobuf_json` form of an item: every value of a payload states its type.

    Everything outside the payloads stays as it is, byte for byte within each member.
    """
    members = _members(item)
    if "events_by_id" in members:
        events = _members(members["events_by_id"])
        members["events_by_id"] = msgspec.Raw(_encode({key: _event(raw) for key, raw in events.items()}))
    elif "event" in members:
        event = _members(members["event"])
        if "created_event" in event:
            event["created_event"] = _event(event["created_event"])
        members["event"] = msgspec.Raw(_encode(event))
    return _encode(members)


def typed(value: Any) -> dict[str, Any]:
    """A value with its type: records, lists, texts, parties, contract ids, numerics, booleans."""
    if isinstance(value, dict):
        return {"record": {"fields": [{"label": label, "value": typed(member)} for label, member in value.items()]}}
    if isinstance(value, list):
        return {"list": {"elements": [typed(element) for element in value]}}
    if isinstance(value, str):
        return {_kind(value): value}
    if value is None:
        return {"optional": {}}
    if isinstance(value, bool):
        return {"bool": value}
    return {"int64" if isinstance(value, int) else "number": str(value)}


def _event(raw: msgspec.Raw) -> msgspec.Raw:
    members = _members(raw)
    for name in _VALUES & members.keys():
        value = json.loads(bytes(members[name]), parse_float=Decimal)
        members[name] = msgspec.Raw(json.dumps(typed(value), separators=(",", ":")).encode())
    return msgspec.Raw(_encode(members))


def _kind(text: str) -> str:
    for pattern, kind in ((_PARTY, "party"), (_CONTRACT_ID, "contractId"), (_NUMERIC, "numeric")):
        if pattern.fullmatch(text):
            return kind
    return "text"
