"""The participant's updates and active contracts as routes: single ones, and pages by offset with a token."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct

from ledgerframes.sandbox.commands.errors import OUT_OF_RANGE, LedgerError, invalid, not_found
from ledgerframes.sandbox.commands.event_filters import (
    LEDGER_EFFECTS,
    EventFormat,
    Selection,
    TransactionFormat,
    everything,
)
from ledgerframes.sandbox.http.ledger import (
    Ledger,
    Node,
    arrival,
    created,
    move,
    nodes_of,
    subject_of,
    transaction_hash,
)
from ledgerframes.sandbox.http.ledger_access import UpdateFormat, allowed
from ledgerframes.sandbox.http.responses import Int32, Int64
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.views import ScanLeg, read_item
from ledgerframes.sandbox.world.world import World

ROUTES: Final = Routes()


class TransactionById(Struct, rename="camel"):
    """The body of POST /v2/updates/transaction-by-id."""

    update_id: str
    requesting_parties: list[str] | None = None
    transaction_format: TransactionFormat | None = None


class UpdateById(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-id."""

    update_id: str
    update_format: UpdateFormat


class UpdateByHash(Struct, rename="camel"):
    """The body of POST /v2/updates/update-by-hash."""

    transaction_hash: str
    update_format: UpdateFormat


@ROUTES.post("/api/ledger/v2/updates/update-by-id")
def update_by_id(request: ServerRequest) -> dict[str, Any]:
    """An update by its id; topology events are never found."""
    body = request.read(UpdateById)
    return _update(request, body.update_id, body.update_format, wanted=body.update_id)


@ROUTES.post("/api/ledger/v2/updates/update-by-hash", since="0.9")
def update_by_hash(request: ServerRequest) -> dict[str, Any]:
    """A transaction by its `transactionHash`; reassignments have none."""
    body = request.read(UpdateByHash)
    wanted = body.transaction_hash
    found = next((one.update_id for one in request.world.ledger_updates if transaction_hash(one) == wanted), "")
    transactions = UpdateFormat(include_transactions=body.update_format.include_transactions)
    return _update(request, found, transactions, wanted=wanted)


@ROUTES.post(
    "/api/ledger/v2/updates/transaction-by-id",
    removed_in="0.9",
    in_contract=True,
)
def transaction_by_id(request: ServerRequest) -> dict[str, Any]:
    """A transaction by its id."""
    body = request.read(TransactionById)
    if body.requesting_parties and body.transaction_format:
        raise invalid("Both requestingParties and transactionFormat are set; use transactionFormat only")
    if not body.requesting_parties and not body.transaction_format:
        raise invalid("Either transaction_format or requesting_parties is required")
    parties = everything(body.requesting_parties) if body.requesting_parties else None
    transaction = _transaction(request, body.update_id, body.transaction_format, otherwise=parties)
    if transaction is None:
        raise not_found("transaction", body.update_id)
    return {"transaction": transaction}


def _update(request: ServerRequest, update_id: str, shown: UpdateFormat, *, wanted: str) -> dict[str, Any]:
    update, kind = None, "Transaction"
    if shown.include_transactions:
        update = _transaction(request, update_id, shown.include_transactions)
    if update is None and shown.include_reassignments:
        chosen, kind = allowed(request.user, shown.include_reassignments), "Reassignment"
        update = Ledger(request).reassignment(update_id, chosen)
    if update is None:
        raise not_found("update", wanted)
    return {"update": {kind: {"value": update}}}


def _transaction(
    request: ServerRequest, update_id: str, shown: TransactionFormat | None, *, otherwise: Selection | None = None
) -> dict[str, Any] | None:
    chosen = allowed(request.user, shown.event_format if shown else None, otherwise=otherwise)
    effects = shown is not None and shown.transaction_shape == LEDGER_EFFECTS
    return Ledger(request).transaction(update_id, chosen, effects=effects)


PAGE: Final = 100
MAXIMUM: Final = 1_000


class UpdatesPage(Struct, rename="camel"):
    """The body of POST /v2/updates/get-updates-page."""

    update_format: UpdateFormat
    begin_offset_exclusive: Int64 | None = None
    end_offset_inclusive: Int64 | None = None
    max_page_size: Int32 | None = None
    descending_order: bool = False
    page_token: str = ""


class ContractsPage(Struct, rename="camel"):
    """The body of POST /v2/state/active-contracts-page."""

    event_format: EventFormat
    active_at_offset: Int64 | None = None
    max_page_size: Int32 | None = None
    page_token: str = ""


@ROUTES.get("/api/ledger/v2/state/ledger-end")
def end(request: ServerRequest) -> dict[str, Any]:
    """Where the ledger ends."""
    times = {"synchronizerTimes": _times(request.world)} if request.server.newest else {}
    return {"offset": request.world.last_offset, **times}


@ROUTES.post("/api/ledger/v2/updates/get-updates-page", since="0.7")
def updates(request: ServerRequest) -> dict[str, Any]:
    """A page of updates."""
    body = request.read(UpdatesPage)
    size, newest = _size(body.max_page_size), request.world.last_offset
    begin = _offset(body.begin_offset_exclusive, "beginOffsetExclusive", newest) or 0
    asked_end = _offset(body.end_offset_inclusive, "endOffsetInclusive", newest)
    until = newest if asked_end is None else asked_end
    if begin > until:
        raise invalid(f"beginOffsetExclusive {begin} is after endOffsetInclusive {until}")
    down, place = body.descending_order, _place(request, body.page_token)
    low, high = begin if down or place is None else place, place if down and place is not None else until
    shown, last = _page(request, body, low, high, size)
    if down:
        low, more = last, last > begin
    else:
        high, more = last, last < until or asked_end is None
    answer = {"updates": shown, "lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high}
    return {**answer, **({"nextPageToken": _token(request, last)} if more else {})}


@ROUTES.post("/api/ledger/v2/state/active-contracts-page", since="0.7")
def contracts(request: ServerRequest) -> dict[str, Any]:
    """A page of the contracts that were active at an offset."""
    body = request.read(ContractsPage)
    size, newest = _size(body.max_page_size), request.world.last_offset
    chosen = allowed(request.user, body.event_format)
    at = _offset(body.active_at_offset, "activeAtOffset", newest)
    at = newest if at is None else at
    entries = list(active_entries(Ledger(request), chosen, at))
    place = _place(request, body.page_token) or 0
    answer = {"activeContracts": entries[place : place + size], "activeAtOffset": at}
    more = place + size < len(entries)
    return {**answer, **({"nextPageToken": _token(request, place + size)} if more else {})}


def _page(
    request: ServerRequest, body: UpdatesPage, low: int, high: int, size: int
) -> tuple[list[dict[str, Any]], int]:
    """The updates of a page between two offsets, and the offset up or down to which it goes."""
    render_update, shown = _renderer(request, body), []
    numbered = list(enumerate(request.world.recorded(low, high), low + 1))
    for offset, update_id in reversed(numbered) if body.descending_order else numbered:
        update = render_update(update_id)
        if update is not None:
            shown.append({"update": update})
            if len(shown) == size:
                return shown, offset - 1 if body.descending_order else offset
    return shown, low if body.descending_order else max(low, high)


def _renderer(request: ServerRequest, body: UpdatesPage) -> Callable[[str], dict[str, Any] | None]:
    """Shows an update in the requested form, or None."""
    wanted, ledger = body.update_format, Ledger(request)
    whole, moves = wanted.include_transactions, wanted.include_reassignments
    of_transactions = allowed(request.user, whole.event_format) if whole else None
    of_moves = allowed(request.user, moves) if moves else None
    effects = whole is not None and whole.transaction_shape == LEDGER_EFFECTS

    def render_update(update_id: str) -> dict[str, Any] | None:
        if of_transactions is not None:
            shown = ledger.transaction(update_id, of_transactions, effects=effects)
            if shown is not None:
                # A page leaves out a transaction all of whose events are filtered.
                return {"Transaction": {"value": shown}} if shown["events"] else None
        shown = None if of_moves is None else ledger.reassignment(update_id, of_moves)
        return None if shown is None else {"Reassignment": {"value": shown}}

    return render_update


def _token(request: ServerRequest, place: int) -> str:
    return base64.urlsafe_b64encode(f"{request.server.participant}:{place}".encode()).decode()


def _place(request: ServerRequest, token: str) -> int | None:
    """The position of a request's token; None if there is none.

    Raises:
        LedgerError: it belongs to another participant (400).
    """
    if not token:
        return None
    try:
        participant, place = base64.b64decode(token, altchars=b"-_", validate=True).decode().split(":")
        number = int(place)
    except ValueError as error:
        raise invalid("pageToken is malformed") from error
    if participant != request.server.participant:
        raise invalid("pageToken belongs to another participant")
    return number


def _times(world: World) -> list[dict[str, str]]:
    """Up to which record time the participant has seen each synchronizer that has had an update."""
    latest: dict[str, int] = {}
    for update in world.ledger_updates:
        latest[update.synchronizer_id] = max(update.record_time, latest.get(update.synchronizer_id, update.record_time))
    return [{"synchronizerId": one, "recordTime": timestamps.exact(latest[one])} for one in sorted(latest)]


def _size(request: int | None) -> int:
    if request is None:
        return PAGE
    if not 1 <= request <= MAXIMUM:
        raise invalid(f"maxPageSize {request} is not from 1 to {MAXIMUM}")
    return request


def _offset(value: int | None, name: str, newest: int) -> int | None:
    if value is None:
        return None
    if value < 0:
        raise invalid(f"{name} {value} is negative")
    if value > newest:
        raise LedgerError("OFFSET_AFTER_LEDGER_END", f"{name} {value} is after ledger end {newest}", kind=OUT_OF_RANGE)
    return value


@dataclass(slots=True)
class _Active:
    """A contract on a synchronizer, with the offset of the update that brought it there."""

    node: Node
    offset: int
    synchronizer_id: str
    workflow_id: str
    counter: int = 0


@dataclass(slots=True)
class _Replay:
    """Contracts that are active, that have left but not arrived, and that arrived before they were seen leaving."""

    active: dict[str, _Active] = field(default_factory=dict)
    left: dict[str, tuple[_Active, ScanLeg, int]] = field(default_factory=dict)
    early: dict[str, tuple[_Active, ScanLeg]] = field(default_factory=dict)

    def end(self, contract_id: str) -> None:
        """A consuming exercise."""
        self.active.pop(contract_id, None)
        for unassign_id in [key for key, (one, _) in self.early.items() if one.node.event.contract_id == contract_id]:
            del self.early[unassign_id]

    def leave(self, leg: ScanLeg, offset: int) -> None:
        """An unassignment."""
        if leg.unassign_id in self.early:
            arrived, _ = self.early.pop(leg.unassign_id)
            self.active[leg.contract_id] = arrived
        elif leg.contract_id in self.active:
            self.left[leg.unassign_id] = (self.active.pop(leg.contract_id), leg, offset)

    def arrive(self, leg: ScanLeg, offset: int) -> None:
        """An assignment."""
        node = arrival(leg)
        arrived = _Active(node, offset, leg.target_synchronizer, "", leg.reassignment_counter)
        if self.left.pop(leg.unassign_id, None) is None:
            self.early[leg.unassign_id] = (arrived, leg)
        else:
            self.active[node.event.contract_id] = arrived


def active_entries(ledger: Ledger, selection: Selection, at: int) -> Iterator[dict[str, Any]]:
    """The selected entries of `POST /v2/state/active-contracts-page` at an offset."""
    replay = _replay(ledger, at)
    for one in replay.active.values():
        if (event := _created(one, selection)) is not None:
            place = {"synchronizerId": one.synchronizer_id, "reassignmentCounter": one.counter}
            yield _entry(one, "JsActiveContract", {"createdEvent": event, **place})
    for one, leg, offset in replay.left.values():
        event, left = _created(one, selection), ledger.unassigned(leg, selection, offset)
        if event is not None and left is not None:
            members = {"createdEvent": event, "unassignedEvent": left["JsUnassignedEvent"]["value"]}
            yield _entry(one, "JsIncompleteUnassigned", members)
    for one, leg in replay.early.values():
        if (event := _created(one, selection)) is not None:
            yield _entry(one, "JsIncompleteAssigned", {"assignedEvent": {**move(leg), "createdEvent": event}})


def _entry(one: _Active, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"workflowId": one.workflow_id, "contractEntry": {kind: content}}


def _replay(ledger: Ledger, at: int) -> _Replay:
    replay, world = _Replay(), ledger.world
    for offset, update_id in enumerate(world.recorded(0, at), 1):
        update = world.update(update_id)
        assert update is not None
        item = read_item(update.rendered)
        if item.event is not None:
            (replay.arrive if item.event.created_event else replay.leave)(item.event, offset)
            continue
        for node in nodes_of(item, world.contracts.origins):
            if node.event.event_type == "created_event":
                replay.active[node.event.contract_id] = _Active(node, offset, update.synchronizer_id, item.workflow_id)
            elif node.event.consuming:
                replay.end(node.event.contract_id)
    return replay


def _created(one: _Active, selection: Selection) -> dict[str, Any] | None:
    """The creation of a contract, if it is seen."""
    seen = selection.seen(subject_of(one.node.event), one.node.stakeholders)
    return None if seen is None else created(one.node, seen, one.offset)
