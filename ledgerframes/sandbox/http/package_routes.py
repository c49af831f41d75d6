"""Uploading and validating DARs at the simulated participant, as routes, for those who manage it."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from ledgerframes.sandbox.commands.errors import STATE, LedgerError, UnreadableError, not_found
from ledgerframes.sandbox.http.ledger_access import check_manager
from ledgerframes.sandbox.http.routes import Asked, Routes

if TYPE_CHECKING:
    from ledgerframes.sandbox.world.archives import Package

ARCHIVE_MAXIMUM: Final = 64 * 1024 * 1024
BINARY: Final = "application/octet-stream"
ROUTES: Final = Routes()

_BOOLEANS: Final = {"true": True, "false": False}
_SYNCHRONIZER: Final = re.compile(r"[A-Za-z0-9:\-_ ]+::[A-Za-z0-9]+")
# Error category, gRPC code and HTTP status.
_TOO_LARGE: Final = (8, 3, 413)
_WRONG_TYPE: Final = (8, 3, 415)


@ROUTES.post("/api/ledger/v2/packages")
async def upload(asked: Asked) -> dict[str, Any]:
    """Stores an archive; vets it too, unless `vetAllPackages` is false."""
    check_manager(asked.user)
    text = asked.query("vetAllPackages", "true")
    if text not in _BOOLEANS:
        raise UnreadableError("Invalid value for: query parameter vetAllPackages")
    synchronizers, packages = _synchronizers(asked), await _archive(asked)
    with asked.world.lock:
        if _BOOLEANS[text]:
            _check(asked, packages, synchronizers)
        for package in packages:
            stored = asked.world.packages.setdefault(package.package_id, package)
            stored.vetted |= synchronizers if _BOOLEANS[text] else set()
    return {}


@ROUTES.post("/api/ledger/v2/dars/validate")
async def validate(asked: Asked) -> Response:
    """Checks an archive without changing anything."""
    check_manager(asked.user)
    synchronizers, packages = _synchronizers(asked), await _archive(asked)
    with asked.world.lock:
        _check(asked, packages, synchronizers)
    return Response()


def _synchronizers(asked: Asked) -> set[str]:
    """Where the packages are to be vetted: without `synchronizerId` on every synchronizer that there is."""
    wanted = asked.request.query_params.get("synchronizerId")
    if wanted is None:
        return set(asked.world.synchronizers)
    if _SYNCHRONIZER.fullmatch(wanted) is None:
        raise UnreadableError("Invalid value for: query parameter synchronizerId")
    if wanted not in asked.world.synchronizers:
        raise not_found("synchronizer", wanted)
    return {wanted}


def _check(asked: Asked, packages: list[Package], synchronizers: set[str]) -> None:
    """Refuse another package of a name and version that are vetted: a package's name would not tell them apart."""
    known = {one.version: one.package_id for one in asked.world.packages.values() if one.vetted & synchronizers}
    for package in packages:
        if package.version is not None and known.get(package.version, package.package_id) != package.package_id:
            cause = f"{' '.join(package.version)} is vetted already, as package {known[package.version]}"
            about = ("PACKAGE_ID", package.package_id)
            raise LedgerError("KNOWN_PACKAGE_VERSION", cause, kind=STATE, resource=about)


async def _archive(asked: Asked) -> list[Package]:
    """The request's archive: refused as soon as it is too large, and unpacked in a thread."""
    # zipfile is loaded by an upload, not by every start.
    from ledgerframes.sandbox.world.archives import ArchiveError, read_dar

    headers = asked.request.headers
    kind = headers.get("Content-Type", BINARY).partition(";")[0].strip().lower()
    if kind != BINARY:
        raise LedgerError("UNSUPPORTED_MEDIA_TYPE", f"A DAR is sent as {BINARY}, not {kind}", kind=_WRONG_TYPE)
    _check_size(int(headers.get("Content-Length", "0")))
    pieces, size = [], 0
    async for piece in asked.request.stream():
        pieces.append(piece)
        size += len(piece)
        # Counted as well: a body that comes in chunks does not declare its length.
        _check_size(size)
    try:
        # Unpacking 256 MB in the event loop would keep everybody else waiting.
        return await asyncio.to_thread(read_dar, b"".join(pieces))
    except ArchiveError as error:
        raise UnreadableError(f"Invalid value for: body ({error})") from error


def _check_size(size: int) -> None:
    if size > ARCHIVE_MAXIMUM:
        raise LedgerError("ARCHIVE_TOO_LARGE", f"An archive may have {ARCHIVE_MAXIMUM} bytes at most", kind=_TOO_LARGE)
