"""Scan's snapshots of the active contracts over a world, as Starlette routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.responses import (
    INT32,
    INT64,
    UNREADABLE,
    Limits,
    RefusalError,
    check_list,
    check_size,
    encode,
    json_answer,
    page_token,
    query_integer,
    read_page_token,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active, active_at
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView

_KEPT: Final = 4
_COINS: Final = frozenset(f"{template.package_name}:{template.entity}" for template in (COIN, LOCKED_COIN))

_Int64 = Annotated[int, Meta(ge=-INT64, le=INT64 - 1)]
_Int32 = Annotated[int, Meta(ge=-INT32, le=INT32 - 1)]


class _Snapshot(Struct):
    migration_id: _Int64
    record_time: str
    page_size: _Int32
    record_time_match: Literal["exact", "at_or_before"] | None = None
    #: A text under /v2, a number under /v1 and /v0.
    after: str | _Int64 | None = None


class StateRequest(_Snapshot):
    """The body of POST /v2/state/acs and of its predecessors under /v1 and /v0."""

    templates: list[str] | None = None
    party_ids: list[str] | None = None


class CoinsRequest(_Snapshot, kw_only=True):
    """The body of POST /v2/holdings/state and of its predecessors under /v1 and /v0."""

    owner_party_ids: Annotated[list[str], Meta(min_length=1)]


_read_state: Final = msgspec.json.Decoder(StateRequest).decode
_read_coins: Final = msgspec.json.Decoder(CoinsRequest).decode


@dataclass(frozen=True, slots=True)
class SnapshotRoutes:
    """The handlers of one scan server."""

    view: ServerView
    limits: Limits
    _sets: dict[tuple[Cursor, int], list[Active]] = field(default_factory=dict)

    def routes(self) -> list[BaseRoute]:
        """The routes of every release, without the interface's prefix."""
        return [
            Route("/v2/state/acs", self.state, methods=["POST"]),
            Route("/v2/holdings/state", self.coins, methods=["POST"]),
            Route("/v1/state/acs", self.state_v1, methods=["POST"]),
            Route("/v1/holdings/state", self.coins_v1, methods=["POST"]),
            Route("/v0/state/acs/snapshot-timestamp", self.snapshot_time, methods=["GET"]),
            Route("/v0/state/acs", self.state_v0, methods=["POST"]),
            Route("/v0/holdings/state", self.coins_v0, methods=["POST"]),
        ]

    async def snapshot_time(self, request: Request) -> Response:
        """GET /v0/state/acs/snapshot-timestamp: the newest snapshot strictly before a time."""
        text = request.query_params.get("before")
        migration_id = query_integer(request, "migration_id", bound=INT64)
        if text is None or migration_id is None:
            name = "before" if text is None else "migration_id"
            raise RefusalError(400, f"Request is missing required query parameter '{name}'")
        with self.view.world.lock:
            snapshot = self.view.snapshot(migration_id, _parse(text) - 1, exact=False)
        if snapshot is None:
            raise RefusalError(404, f"No snapshots found before {text}")
        return json_answer(encode({"record_time": timestamps.exact(snapshot)}))

    async def state(self, request: Request) -> Response:
        """POST /v2/state/acs: page tokens are texts."""
        return await self._state(request, told_active, opaque=True)

    async def state_v1(self, request: Request) -> Response:
        """POST /v1/state/acs."""
        return await self._state(request, told_active)

    async def state_v0(self, request: Request) -> Response:
        """POST /v0/state/acs: with an event id, prefixed with #, instead of the update id."""
        return await self._state(request, _told_v0)

    async def coins(self, request: Request) -> Response:
        """POST /v2/holdings/state: page tokens are texts."""
        return await self._coins(request, told_active, opaque=True)

    async def coins_v1(self, request: Request) -> Response:
        """POST /v1/holdings/state."""
        return await self._coins(request, told_active)

    async def coins_v0(self, request: Request) -> Response:
        """POST /v0/holdings/state."""
        return await self._coins(request, _told_v0)

    async def _state(self, request: Request, tell: _Tell, *, opaque: bool = False) -> Response:
        wanted = self._checked(await _body(request, _read_state), opaque=opaque)
        templates, parties = wanted.templates, wanted.party_ids
        for name in templates or ():
            if name.count(":") != 2:
                raise RefusalError(400, f"Malformed template_id filter: {name}")
        kept = [
            contract
            for contract in self._active(wanted)
            if (not templates or contract.template in templates)
            and (not parties or not contract.stakeholders.isdisjoint(parties))
        ]
        return self._page(wanted, kept, tell, opaque=opaque)

    async def _coins(self, request: Request, tell: _Tell, *, opaque: bool = False) -> Response:
        wanted = self._checked(await _body(request, _read_coins), opaque=opaque)
        owners = set(wanted.owner_party_ids)
        kept = [
            contract for contract in self._active(wanted) if contract.template in _COINS and _owner(contract) in owners
        ]
        return self._page(wanted, kept, tell, opaque=opaque)

    def _checked(self, wanted: Any, *, opaque: bool) -> Any:
        """Refuse requests that the route does not accept: with a token of another route, or too long a list."""
        if wanted.after is not None and isinstance(wanted.after, str) != opaque:
            known = "string" if opaque else "long"
            raise RefusalError(400, f"The request content was malformed: after: {wanted.after!r} is not a {known}")
        for name in ("party_ids", "templates", "owner_party_ids"):
            check_list(name, getattr(wanted, name, None) or (), maximum=self.limits.items)
        return wanted

    def _active(self, wanted: _Snapshot) -> list[Active]:
        check_size("page_size", wanted.page_size, self.limits.page)
        at = self._cursor(wanted)
        world = self.view.world
        with world.lock:
            key = (at, world.position(at))
            if key not in self._sets:
                while len(self._sets) >= _KEPT:
                    del self._sets[next(iter(self._sets))]
                self._sets[key] = active_at(world, at)
            return self._sets[key]

    def _cursor(self, wanted: _Snapshot) -> Cursor:
        exact = wanted.record_time_match != "at_or_before"
        with self.view.world.lock:
            snapshot = self.view.snapshot(wanted.migration_id, _parse(wanted.record_time), exact=exact)
        if snapshot is None:
            raise RefusalError(
                404,
                f"No snapshot found for migration {wanted.migration_id} and {wanted.record_time}",
            )
        return wanted.migration_id, snapshot

    def _page(self, wanted: _Snapshot, kept: list[Active], tell: _Tell, *, opaque: bool) -> Response:
        after = _row(wanted.after)
        left = [contract for contract in kept if after is None or contract.row > after]
        page = left[: wanted.page_size]
        answer = {
            "record_time": timestamps.exact(self._cursor(wanted)[1]),
            "migration_id": wanted.migration_id,
            "created_events": [tell(contract, wanted.migration_id) for contract in page],
        }
        if len(left) > len(page):
            answer["next_page_token"] = page_token(str(page[-1].row)) if opaque else page[-1].row
        return json_answer(encode(answer))


_Tell = Callable[[Active, int], dict[str, Any]]


def told_active(one: Active, migration_id: int) -> dict[str, Any]:
    """A contract under /v1, with its update's id if it was created in the snapshot's migration."""
    known = {"created_in_update_id": one.update_id} if one.migration_id == migration_id else {}
    return {**msgspec.structs.asdict(one.event), **known}


def _told_v0(one: Active, _migration_id: int) -> dict[str, Any]:
    return {"event_type": "created_event", "event_id": f"#{one.event_id}", **msgspec.structs.asdict(one.event)}


def _owner(one: Active) -> str:
    """The owner of a coin, locked or not."""
    arguments = msgspec.json.decode(one.event.create_arguments)
    return str(arguments.get("amulet", arguments)["owner"])


async def _body(request: Request, read: Callable[[bytes], Any]) -> Any:
    try:
        return read(await request.body())
    except UNREADABLE as error:
        raise RefusalError(400, f"The request content was malformed: {error}") from error


def _row(token: str | int | None) -> int | None:
    """The row that a page ended with."""
    try:
        return int(read_page_token(token)) if isinstance(token, str) else token
    except ValueError as error:
        raise RefusalError(400, f"Invalid page token: {token}") from error


def _parse(text: str) -> int:
    try:
        return timestamps.parse(text)
    except ValueError as error:
        raise RefusalError(400, str(error)) from error
