"""Scan's snapshots of the active contracts over a world, as routes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import Meta, Struct

from ledgerframes.sandbox.http.holdings import snapshot_of
from ledgerframes.sandbox.http.responses import (
    INT64,
    Int32,
    Int64,
    RefusalError,
    check_size,
    malformed,
    page_token,
    read_page_token,
    read_time,
)
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active
from ledgerframes.sandbox.world.timestamps import Cursor

ROUTES: Final = Routes()

_Body = TypeVar("_Body", bound="_Wanted")


class _Wanted(Struct):
    migration_id: Int64
    record_time: str
    page_size: Int32
    record_time_match: Literal["exact", "at_or_before"] | None = None
    #: A text under /v2, a number under /v1 and /v0.
    after: str | Int64 | None = None


class StateRequest(_Wanted):
    """The body of POST /v2/state/acs and of its predecessors under /v1 and /v0."""

    templates: list[str] | None = None
    party_ids: list[str] | None = None


class CoinsRequest(_Wanted, kw_only=True):
    """The body of POST /v2/holdings/state and of its predecessors under /v1 and /v0."""

    owner_party_ids: Annotated[list[str], Meta(min_length=1)]


@ROUTES.get("/api/scan/v0/state/acs/snapshot-timestamp")
def snapshot_time(request: ServerRequest) -> dict[str, Any]:
    """The newest snapshot strictly before a time."""
    migration_id, text = request.integer("migration_id", bound=INT64), request.needed("before")
    request.needed("migration_id")
    assert migration_id is not None
    snapshot = request.view.snapshot(migration_id, read_time(text) - 1, exact=False)
    if snapshot is None:
        raise RefusalError(404, f"No snapshots found before {text}")
    return {"record_time": timestamps.exact(snapshot)}


@ROUTES.post("/api/scan/v2/state/acs", since="0.9")
@ROUTES.post("/api/scan/v1/state/acs", since="0.7", removed_in="0.9")
@ROUTES.post("/api/scan/v0/state/acs", removed_in="0.9")
def state(request: ServerRequest) -> dict[str, Any]:
    """A page of the active contracts."""
    wanted = _read(request, StateRequest)
    templates, parties = wanted.templates, wanted.party_ids
    for name in templates or ():
        if name.count(":") != 2:
            raise RefusalError(400, f"Malformed template_id filter: {name}")
    at = _snapshot(request, wanted)
    matching = [
        contract
        for contract in request.view.active(at)
        if (not templates or contract.template in templates)
        and (not parties or not contract.stakeholders.isdisjoint(parties))
    ]
    return _page(request, wanted, at, matching)


@ROUTES.post("/api/scan/v2/holdings/state", since="0.9")
@ROUTES.post("/api/scan/v1/holdings/state", since="0.7", removed_in="0.9")
@ROUTES.post("/api/scan/v0/holdings/state", removed_in="0.9")
def coins(request: ServerRequest) -> dict[str, Any]:
    """A page of the coins of some owners."""
    wanted = _read(request, CoinsRequest)
    owners, at = set(wanted.owner_party_ids), _snapshot(request, wanted)
    matching = [one for one in request.view.active(at) if (coin := one.coin()) is not None and coin.owner in owners]
    return _page(request, wanted, at, matching)


def _version(request: ServerRequest) -> str:
    """The route's version: a page's token is a text under /v2, a number before; /v0 has events' ids, not updates'."""
    return request.http.url.path.split("/")[3]


def _read(request: ServerRequest, kind: type[_Body]) -> _Body:
    """The request, unless it has a token of another version or too long a list."""
    wanted, opaque = request.read(kind), _version(request) == "v2"
    if wanted.after is not None and isinstance(wanted.after, str) != opaque:
        known = "string" if opaque else "long"
        raise malformed(f"after: {wanted.after!r} is not a {known}")
    for name in ("party_ids", "templates", "owner_party_ids"):
        request.check_list(name, getattr(wanted, name, None) or ())
    return wanted


def _snapshot(request: ServerRequest, wanted: _Wanted) -> Cursor:
    check_size("page_size", wanted.page_size, request.server.page_maximum)
    return snapshot_of(request, wanted.migration_id, wanted.record_time, wanted.record_time_match)


def _page(request: ServerRequest, wanted: _Wanted, at: Cursor, matching: list[Active]) -> dict[str, Any]:
    after, version = _row(wanted.after), _version(request)
    left = [contract for contract in matching if after is None or contract.row > after]
    page = left[: wanted.page_size]
    answer = {
        "record_time": timestamps.exact(at[1]),
        "migration_id": wanted.migration_id,
        "created_events": [one.record_v0() if version == "v0" else one.record(wanted.migration_id) for one in page],
    }
    if len(left) > len(page):
        answer["next_page_token"] = page_token(str(page[-1].row)) if version == "v2" else page[-1].row
    return answer


def _row(token: str | int | None) -> int | None:
    """The row that a page ended with."""
    try:
        return int(read_page_token(token)) if isinstance(token, str) else token
    except ValueError as error:
        raise RefusalError(400, f"Invalid page token: {token}") from error
