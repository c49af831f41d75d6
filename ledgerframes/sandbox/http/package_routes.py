"""Uploading and validating DARs at the simulated participant, as Starlette routes, for those who manage it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.commands.errors import LedgerError, UnreadableError, not_found
from ledgerframes.sandbox.http.callers import Access, AccessError
from ledgerframes.sandbox.http.ledger_errors import denied
from ledgerframes.sandbox.http.responses import json_answer
from ledgerframes.sandbox.world.archives import ArchiveError, Dar, read_dar
from ledgerframes.sandbox.world.package_store import VersionTakenError
from ledgerframes.sandbox.world.world import World

ARCHIVE_MAXIMUM: Final = 64 * 1024 * 1024
BINARY: Final = "application/octet-stream"

_BOOLEANS: Final = {"true": True, "false": False}
_SYNCHRONIZER: Final = re.compile(r"[A-Za-z0-9:\-_ ]+::[A-Za-z0-9]+")
# Error category, gRPC code and HTTP status.
_TOO_LARGE: Final = (8, 3, 413)
_WRONG_TYPE: Final = (8, 3, 415)
_CONFLICTING: Final = (9, 9, 400)


@dataclass(frozen=True, slots=True)
class PackageRoutes:
    """The handlers of one participant; without `synchronizerId` they mean every synchronizer it knows.

    Attributes:
        archive_maximum: a larger archive is refused, in bytes.
    """

    world: World
    access: Access
    archive_maximum: int = ARCHIVE_MAXIMUM

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        return [
            Route("/v2/packages", self.upload, methods=["POST"]),
            Route("/v2/dars/validate", self.validate, methods=["POST"]),
        ]

    async def upload(self, request: Request) -> Response:
        """POST /v2/packages: stores an archive; vets it too, unless `vetAllPackages` is false."""
        self._check_caller(request)
        vets, synchronizers = _vets(request), self._synchronizers(request)
        dar = await self._archive(request)
        with self.world.lock:
            if vets:
                self._check(dar, synchronizers)
            self.world.package_store.store(dar, synchronizers if vets else ())
        return json_answer(b"{}")

    async def validate(self, request: Request) -> Response:
        """POST /v2/dars/validate: checks an archive without changing anything."""
        self._check_caller(request)
        synchronizers = self._synchronizers(request)
        dar = await self._archive(request)
        with self.world.lock:
            self._check(dar, synchronizers)
        return Response()

    def _check_caller(self, request: Request) -> None:
        try:
            user = self.access.user(request.headers, websocket=True)
        except AccessError as error:
            raise denied(error) from error
        if not user.is_admin():
            raise denied(AccessError(403, f"user {user.id!r} does not manage the participant"))

    def _synchronizers(self, request: Request) -> tuple[str, ...]:
        wanted = request.query_params.get("synchronizerId")
        if wanted is None:
            return self.world.synchronizers
        if _SYNCHRONIZER.fullmatch(wanted) is None:
            raise UnreadableError("Invalid value for: query parameter synchronizerId")
        if wanted not in self.world.synchronizers:
            raise not_found("synchronizer", wanted)
        return (wanted,)

    def _check(self, dar: Dar, synchronizers: tuple[str, ...]) -> None:
        try:
            self.world.package_store.check(dar, synchronizers)
        except VersionTakenError as error:
            about = ("PACKAGE_ID", error.package.package_id)
            raise LedgerError("KNOWN_PACKAGE_VERSION", str(error), kind=_CONFLICTING, resource=about) from error

    async def _archive(self, request: Request) -> Dar:
        """The request's archive; checked outside the event loop, because it may take a while."""
        kind = request.headers.get("Content-Type", BINARY).partition(";")[0].strip().lower()
        if kind != BINARY:
            raise LedgerError("UNSUPPORTED_MEDIA_TYPE", f"A DAR is sent as {BINARY}, not {kind}", kind=_WRONG_TYPE)
        pieces, size = [], 0
        async for piece in request.stream():
            pieces.append(piece)
            size += len(piece)
            # Counted while it arrives: Content-Length may be missing or wrong.
            if size > self.archive_maximum:
                cause = f"An archive may have {self.archive_maximum} bytes at most"
                raise LedgerError("ARCHIVE_TOO_LARGE", cause, kind=_TOO_LARGE)
        try:
            # In a thread, since unpacking would keep the event loop from answering others.
            return await asyncio.to_thread(read_dar, b"".join(pieces))
        except ArchiveError as error:
            raise UnreadableError(f"Invalid value for: body ({error})") from error


def _vets(request: Request) -> bool:
    text = request.query_params.get("vetAllPackages", "true")
    if text not in _BOOLEANS:
        raise UnreadableError("Invalid value for: query parameter vetAllPackages")
    return _BOOLEANS[text]
