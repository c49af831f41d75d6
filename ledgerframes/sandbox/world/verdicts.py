"""The decisions of mediators in a simulated ledger: the verdict of every transaction, and requests that were rejected.

Everything follows from the history alone: a verdict is a function of the update that it belongs to, and a rejected
request lies one microsecond after the update next to which it is invented. So verdicts grow with the ledger and need no
state of their own. Reassignments have none.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.world import Update

#: One transaction of this many has a rejected request next to it.
_REJECTED: Final = 6
_ACCEPTED: Final = "VERDICT_RESULT_ACCEPTED"
_REFUSED: Final = "VERDICT_RESULT_REJECTED"


@dataclass(frozen=True, order=True)
class Event:
    """One item of the event history, in the server's order.

    Attributes:
        update: the update whose verdict it is, or next to which a rejected request is invented.
        rejected: whether it is a rejected request, which carries no update.
        carried: the update as the scan shows it, as JSON; null if it shows none.
    """

    migration_id: int
    record_time: int
    update_id: str
    update: Update
    rejected: bool = False
    carried: bytes = b"null"

    @property
    def body(self) -> bytes:
        """The item as JSON."""
        return _body(self)

    def carrying(self, update: bytes) -> Event:
        """The same item, carrying its update in another encoding."""
        return replace(self, carried=update)


def events_of(update: Update) -> Iterator[Event]:
    """The items of the event history for one update: itself, and some rejected request right after it.

    Of a transaction that the scan does not show, the verdict alone; of such a leg of a reassignment, nothing.
    """
    carried = update.rendered if update.scanned is None else update.scanned or b"null"
    if update.scanned != b"" or b'"events_by_id":' in update.rendered:
        yield Event(update.migration_id, update.record_time, update.update_id, update, carried=carried)
    if _draw(update, "rejected") % _REJECTED == 0 and update.record_time < timestamps.LAST:
        yield Event(update.migration_id, update.record_time + 1, _other_id(update), update, rejected=True)


# Clients read the same pages several times, and a page is a thousand items of 9 kB.
@lru_cache(4_096)
def _body(event: Event) -> bytes:
    item = json.loads(event.update.rendered)
    if event.rejected:
        return _with(b"null", _rejection(event, item))
    return _with(event.carried, None if "event" in item else _acceptance(event, item))


def _with(update: bytes, verdict: dict[str, Any] | None) -> bytes:
    rest: dict[str, Any] = {"verdict": verdict}
    if verdict is not None:
        rest |= {"traffic_summary": _traffic(verdict), "app_activity_records": _activity(verdict)}
    return b'{"update":' + update + b"," + json.dumps(rest, ensure_ascii=False).encode()[1:]


def _acceptance(event: Event, item: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a transaction: a view per root event, and one inside it per child."""
    events = item["events_by_id"]
    views: list[dict[str, Any]] = []
    roots: list[int] = []
    for root in item["root_event_ids"]:
        roots.append(len(views))
        own = {"view_id": len(views), **_parties(events[root]), "sub_views": []}
        views.append(own)
        for child in events[root].get("child_event_ids") or []:
            own["sub_views"].append(len(views))
            views.append({"view_id": len(views), **_parties(events[child]), "sub_views": []})
    parties = [party for root in item["root_event_ids"] for party in _actors(events[root])]
    submitting = list(dict.fromkeys(parties))
    return _verdict(event, submitting, views=views, roots=roots, result=_ACCEPTED)


def _rejection(event: Event, item: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a request like the one that became the update next to it; a counter-party did not confirm."""
    events = item.get("events_by_id") or {}
    party = next((party for event in events.values() for party in _actors(event)), "nobody::1220")
    view = {
        "view_id": 0, "informees": [party], "confirming_parties": [{"parties": [party], "threshold": 1}],
        "sub_views": [],
    }  # fmt: skip
    return _verdict(event, [party], views=[view], roots=[0], result=_REFUSED)


def _verdict(
    event: Event, submitting: list[str], *, views: list[dict[str, Any]], roots: list[int], result: str
) -> dict[str, Any]:
    taken = 200_000 + _draw(event.update, "taken") % 2_000_000
    for view in views:
        seed = f"{event.update_id}/{view['view_id']}"
        view["view_hash"] = f"1220{zlib.crc32(seed.encode()):08x}"
    return {
        "update_id": event.update_id,
        "migration_id": event.migration_id,
        "domain_id": event.update.synchronizer_id,
        "record_time": timestamps.exact(event.record_time),
        "finalization_time": timestamps.exact(min(event.record_time + taken, timestamps.LAST)),
        "submitting_parties": submitting,
        "submitting_participant_uid": f"participant::1220{_draw(event.update, 'participant') % 4:02x}",
        "verdict_result": result,
        "mediator_group": 0,
        "transaction_views": {"views": views, "root_views": roots},
    }


def _parties(event: dict[str, Any]) -> dict[str, Any]:
    informees = sorted({*_actors(event), *(event.get("observers") or [])})
    actors = sorted(_actors(event))
    return {"informees": informees, "confirming_parties": [{"parties": actors, "threshold": len(actors)}]}


def _actors(event: dict[str, Any]) -> list[str]:
    return list(event.get("acting_parties") or event.get("signatories") or [])


def _traffic(verdict: dict[str, Any]) -> dict[str, Any]:
    views = verdict["transaction_views"]["views"]
    costs = [400 + 7 * len(view["informees"]) for view in views]
    envelopes = [{"traffic_cost": cost, "view_ids": [view["view_id"]]} for cost, view in zip(costs, views, strict=True)]
    return {"total_traffic_cost": 900 + sum(costs), "envelope_traffic_summaries": envelopes}


def _activity(verdict: dict[str, Any]) -> dict[str, Any] | None:
    if verdict["verdict_result"] != _ACCEPTED or not verdict["submitting_parties"]:
        return None
    weight = sum(len(view["informees"]) for view in verdict["transaction_views"]["views"])
    provider = min(verdict["submitting_parties"])
    return {"round_number": 1 + verdict["migration_id"] % 7, "records": [{"party": provider, "weight": 100 * weight}]}


def _other_id(update: Update) -> str:
    return f"1220{zlib.crc32(f'{update.update_id}/rejected'.encode()):08x}{update.update_id[-56:]}"


def _draw(update: Update, what: str) -> int:
    return zlib.crc32(f"{update.update_id}/{what}".encode())
