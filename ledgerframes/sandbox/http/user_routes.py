"""Routes for those who manage the participant: its users by the contract's rules, and DARs to upload or validate."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from starlette.responses import Response

from ledgerframes.sandbox.commands.bodies import Party, UserId
from ledgerframes.sandbox.commands.errors import (
    EXISTS,
    MISSING,
    STATE,
    LedgerError,
    UnreadableError,
    not_found,
    unreadable,
)
from ledgerframes.sandbox.http.ledger_access import check_manager
from ledgerframes.sandbox.http.responses import INT32, page_token, read_integer, read_page_token, read_within
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world.parties import Right, User

if TYPE_CHECKING:
    from ledgerframes.sandbox.world.archives import Package

USERS_PAGE: Final = 100
USERS_MAXIMUM: Final = 1_000
ROUTES: Final = Routes()

ANNOTATIONS_MAXIMUM: Final = 256 * 1024
PREFIX_MAXIMUM: Final = 253

_LABEL: Final = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAME: Final = re.compile("[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_OF_PARTY: Final = frozenset({"CanActAs", "CanExecuteAs", "CanReadAs"})
_PLAIN: Final = frozenset(
    {"CanActAsAnyParty", "CanExecuteAsAnyParty", "CanReadAsAnyParty", "IdentityProviderAdmin", "ParticipantAdmin"}
)


class NewMeta(Struct, rename="camel"):
    """Metadata of a user to be created."""

    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class NewUser(Struct, rename="camel"):
    """A user to be created (contract: Resources, User)."""

    id: UserId
    primary_party: str | None = None
    is_deactivated: bool | None = None
    metadata: NewMeta | None = None
    identity_provider_id: str | None = None
    primary_party_authentication: bool | None = None


class NewRight(Struct):
    """A right to be given; its kind has one member, which names the variant."""

    kind: dict[str, Any]


class CreateUser(Struct):
    """The body of POST /v2/users."""

    user: NewUser
    rights: list[NewRight] | None = None


class _OfParty(Struct):
    party: Party


@ROUTES.get("/api/ledger/v2/users")
def users(request: ServerRequest) -> dict[str, Any]:
    """A page of users; a page size above the maximum is silently reduced to it."""
    check_manager(request.user)
    size = _page_size(request.query("pageSize"))
    try:
        after = read_page_token(request.query("pageToken"))
    except ValueError as error:
        raise UnreadableError("Invalid value for: query parameter pageToken") from error
    accounts = request.world.accounts
    found = [accounts[user_id] for user_id in sorted(accounts) if user_id > after][: size + 1]
    token = page_token(found[size - 1].id) if len(found) > size else ""
    return {"users": [user.record() for user in found[:size]], "nextPageToken": token}


@ROUTES.post("/api/ledger/v2/users")
def create_user(request: ServerRequest) -> dict[str, Any]:
    """A new user; the server sets the resource version."""
    check_manager(request.user)
    user, accounts = new_user(request.read(CreateUser)), request.world.accounts
    if user.id in accounts:
        cause, about = f"User {user.id!r} exists already", ("USER", user.id)
        raise LedgerError("USER_ALREADY_EXISTS", cause, kind=EXISTS, resource=about)
    accounts[user.id] = user
    return {"user": user.record()}


def _page_size(text: str) -> int:
    """The maximum number of users per page; 0 and nothing leave that to the server."""
    try:
        size = read_integer(text) if text else 0
    except ValueError:
        size = -1
    if not 0 <= size < INT32:
        raise UnreadableError("Invalid value for: query parameter pageSize")
    return min(size or USERS_PAGE, USERS_MAXIMUM)


def new_user(wanted: CreateUser) -> User:
    """The requested user, as the participant will store it.

    Raises:
        UnreadableError: a rule of the contract is broken.
        LedgerError: the identity provider is not known.
    """
    user, metadata = wanted.user, wanted.user.metadata or NewMeta()
    if metadata.resource_version:
        raise unreadable("user.metadata.resourceVersion must be empty: the server sets it")
    if user.primary_party:
        _convert(user.primary_party, Party, "user.primaryParty")
    # This participant has only the default identity provider, which is named by leaving the field out.
    if user.identity_provider_id:
        cause = f"Identity provider {user.identity_provider_id!r} is not configured; leave it out for the default one"
        about = ("IDENTITY_PROVIDER_CONFIG", user.identity_provider_id)
        raise LedgerError("IDENTITY_PROVIDER_CONFIG_NOT_FOUND", cause, kind=MISSING, resource=about)
    annotations = metadata.annotations or {}
    _check_annotations(annotations)
    return User(
        user.id,
        primary_party=user.primary_party or "",
        deactivated=bool(user.is_deactivated),
        annotations=annotations,
        rights=frozenset(_right(right.kind) for right in wanted.rights or ()),
        own_key=bool(user.primary_party_authentication),
    )


def _right(kind: dict[str, Any]) -> Right:
    name = next(iter(kind), "")
    body = kind.get(name)
    if len(kind) != 1 or name not in _OF_PARTY | _PLAIN or not isinstance(body, dict):
        raise unreadable(f"a right's kind is one of {sorted(_OF_PARTY | _PLAIN)} with its value, not {sorted(kind)}")
    if name in _PLAIN:
        return Right(name)
    return Right(name, _convert(body.get("value"), _OfParty, f"rights {name}").party)


def _check_annotations(annotations: Mapping[str, str]) -> None:
    for key, value in annotations.items():
        prefix, slash, name = key.rpartition("/")
        if slash and not (len(prefix) <= PREFIX_MAXIMUM and _SUBDOMAIN.fullmatch(prefix)):
            raise unreadable(
                f"the prefix of annotation key {key[:80]!r} is not a DNS subdomain of up to 253 characters"
            )
        if not _NAME.fullmatch(name):
            raise unreadable(
                f"the name of annotation key {key[:80]!r} is not 1 to 63 of letters, digits, '.', '-', '_'"
            )
        if not value:
            raise unreadable(f"annotation {key!r} has an empty value, which only an update may give")
    if sum(len(text.encode()) for pair in annotations.items() for text in pair) > ANNOTATIONS_MAXIMUM:
        raise unreadable(f"the annotations take more than {ANNOTATIONS_MAXIMUM} bytes in UTF-8")


def _convert(value: Any, kind: Any, place: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise unreadable(f"{place}: {error}") from error


ARCHIVE_MAXIMUM: Final = 64 * 1024 * 1024
BINARY: Final = "application/octet-stream"

_BOOLEANS: Final = {"true": True, "false": False}
_SYNCHRONIZER: Final = re.compile(r"[A-Za-z0-9:\-_ ]+::[A-Za-z0-9]+")
# Error category, gRPC code and HTTP status.
_WRONG_TYPE: Final = (8, 3, 415)


@ROUTES.post("/api/ledger/v2/packages")
async def upload(request: ServerRequest) -> dict[str, Any]:
    """Stores an archive; vets it too, unless `vetAllPackages` is false."""
    check_manager(request.user)
    text = request.query("vetAllPackages", "true")
    if text not in _BOOLEANS:
        raise UnreadableError("Invalid value for: query parameter vetAllPackages")
    synchronizers, packages = _synchronizers(request), await _archive(request)
    with request.world.lock:
        if _BOOLEANS[text]:
            _check(request, packages, synchronizers)
        for package in packages:
            stored = request.world.packages.setdefault(package.package_id, package)
            stored.vetted |= synchronizers if _BOOLEANS[text] else set()
    return {}


@ROUTES.post("/api/ledger/v2/dars/validate")
async def validate(request: ServerRequest) -> Response:
    """Checks an archive without changing anything."""
    check_manager(request.user)
    synchronizers, packages = _synchronizers(request), await _archive(request)
    with request.world.lock:
        _check(request, packages, synchronizers)
    return Response()


def _synchronizers(request: ServerRequest) -> set[str]:
    """Where the packages are to be vetted: without `synchronizerId` on every synchronizer that there is."""
    wanted = request.http.query_params.get("synchronizerId")
    if wanted is None:
        return set(request.world.synchronizers)
    if _SYNCHRONIZER.fullmatch(wanted) is None:
        raise UnreadableError("Invalid value for: query parameter synchronizerId")
    if wanted not in request.world.synchronizers:
        raise not_found("synchronizer", wanted)
    return {wanted}


def _check(request: ServerRequest, packages: list[Package], synchronizers: set[str]) -> None:
    """Refuse another package of a name and version that are vetted: a package's name would not tell them apart."""
    known = {one.version: one.package_id for one in request.world.packages.values() if one.vetted & synchronizers}
    for package in packages:
        if package.version is not None and known.get(package.version, package.package_id) != package.package_id:
            cause = f"{' '.join(package.version)} is vetted already, as package {known[package.version]}"
            about = ("PACKAGE_ID", package.package_id)
            raise LedgerError("KNOWN_PACKAGE_VERSION", cause, kind=STATE, resource=about)


async def _archive(request: ServerRequest) -> list[Package]:
    """The request's archive: refused as soon as it is too large, and unpacked in a thread."""
    # zipfile is loaded by an upload, not by every start.
    from ledgerframes.sandbox.world.archives import ArchiveError, read_dar

    headers = request.http.headers
    kind = headers.get("Content-Type", BINARY).partition(";")[0].strip().lower()
    if kind != BINARY:
        raise LedgerError("UNSUPPORTED_MEDIA_TYPE", f"A DAR is sent as {BINARY}, not {kind}", kind=_WRONG_TYPE)
    content = await read_within(request.http, ARCHIVE_MAXIMUM)
    try:
        # Unpacking 256 MB in the event loop would keep everybody else waiting.
        return await asyncio.to_thread(read_dar, content)
    except ArchiveError as error:
        raise unreadable(error) from error
