"""Users of a participant, their metadata and rights, with the rules for creating one; used by the ledger interface."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, field

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import ListPage, reads
from ledgerframes.interfaces.rules import PartyId, Text, UserId, each, fits, wrapped

ANNOTATIONS_BYTES: Final = 256 * 1024
PREFIX_LENGTH: Final = 253

_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PREFIX: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)


class ObjectMeta(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Metadata of a user (contract: Resources, ObjectMeta).

    Attributes:
        resource_version: opaque, set by the server; left empty when creating.
        annotations: keys and values, at most 256 kb in UTF-8 in all; keys without a prefix are the end user's.
    """

    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class User(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A user of the participant (contract: Resources, User); servers send "" for text that is unset.

    Attributes:
        id: 1 to 128 of the characters that the contract allows.
        primary_party: the party the user reads and acts as by default.
        is_deactivated: the user is denied all access.
        metadata: resource version and annotations.
        identity_provider_id: None or "" is the default identity provider.
        primary_party_authentication: the user may sign its token with the primary party's key.
    """

    id: str
    primary_party: str | None = None
    is_deactivated: bool | None = None
    metadata: ObjectMeta | None = None
    identity_provider_id: str | None = None
    primary_party_authentication: bool | None = None


# A pageSize above 1,000 is capped silently, so only an empty token ends the list.
class UsersPage(ListPage, frozen=True, rename="camel"):
    """A page of users; there are more pages until `next_page_token` is empty or None, whatever a page's length."""

    users: list[User] = field(default_factory=list)
    next_page_token: str | None = None


class _SentPage(Struct, rename="camel"):
    users: list[User] | None = None
    next_page_token: str | None = None


_sent_page: Final = reads(_SentPage)


def read_users(body: bytes) -> UsersPage:
    """Read the answer of GET /v2/users; one without the member `users` has none."""
    page = _sent_page(body)
    return UsersPage(page.users or [], page.next_page_token)


read_created: Final = reads(User, "user")


def new_user(user: User) -> User:
    """A user to be created, as it is sent.

    Raises:
        InputError: a rule of the contract is broken.
    """
    if not isinstance(user, User):
        raise InputError(f"user={shown(user)}; give a User")
    fits(user, User, "user")
    fits(user.id, UserId, "user.id")
    # As in JSON, a mapping is accepted too.
    metadata = fits(user.metadata, ObjectMeta | None, "user.metadata") or ObjectMeta()
    # The contract: left empty when creating, since the server fills it in.
    if metadata.resource_version:
        raise InputError(
            f"user.metadata.resource_version={shown(metadata.resource_version)}; leave it out: the server sets it"
        )
    check_annotations(metadata.annotations or {}, "user.metadata.annotations")
    annotated = ObjectMeta(annotations=metadata.annotations) if metadata.annotations else None
    return msgspec.structs.replace(user, metadata=annotated)


def check_annotations(annotations: Mapping[str, str], name: str) -> None:
    """Check the annotations of something to be created.

    Raises:
        InputError: a key, a value or the size in all breaks a rule.
    """
    fits(annotations, dict[str, str], name)
    for key, value in annotations.items():
        _check_key(key, f"{name} key {shown(key)}")
        # In an update an empty value removes the key; here it would be a mistake.
        if not value:
            raise InputError(f"{name}[{key!r}]=''; give text: an empty value removes a key, which is for updates only")
    size = sum(_size(key, name) + _size(value, f"{name}[{key!r}]") for key, value in annotations.items())
    if size > ANNOTATIONS_BYTES:
        raise InputError(f"{name} take {size} bytes in UTF-8; keys and values may take {ANNOTATIONS_BYTES} in all")


def _check_key(key: str, place: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if slash and not (_PREFIX.fullmatch(prefix) and len(prefix) <= PREFIX_LENGTH):
        raise InputError(f"{place}: before the / give a DNS subdomain of at most {PREFIX_LENGTH} characters")
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{place}: give a name of at most 63 letters, digits, '.', '-' and '_', "
            "which begins and ends with a letter or a digit"
        )


def _size(text: str, place: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InputError(f"{place} is not Unicode text: {error}") from error


class CanActAs(Struct, frozen=True):
    """May authorize commands for the party."""

    party: PartyId


class CanActAsAnyParty(Struct, frozen=True):
    """May authorize commands for any party; Canton has it since 3.6."""


class CanExecuteAs(Struct, frozen=True):
    """May prepare and execute submissions as the party, without reading; `CanActAs` implies it."""

    party: PartyId


class CanExecuteAsAnyParty(Struct, frozen=True):
    """May prepare and execute transactions as any party."""


class CanReadAs(Struct, frozen=True):
    """May read everything visible to the party."""

    party: PartyId


class CanReadAsAnyParty(Struct, frozen=True):
    """May read everything visible to any party."""


class IdentityProviderAdmin(Struct, frozen=True):
    """May administer the users of its own identity provider."""


class ParticipantAdmin(Struct, frozen=True):
    """May administer the participant."""


class EmptyRight(Struct, frozen=True):
    """The variant without meaning, `Empty`."""


# Releases add rights, and one that this version does not know still has to be granted.
class OtherRight(Struct, frozen=True):
    """A right of a newer release.

    Attributes:
        kind: the variant's name.
        body: its contents, unchanged.
    """

    kind: Text
    body: Any


_OfParty = CanActAs | CanExecuteAs | CanReadAs
_Plain = CanActAsAnyParty | CanExecuteAsAnyParty | CanReadAsAnyParty | IdentityProviderAdmin | ParticipantAdmin
Right = _OfParty | _Plain | EmptyRight | OtherRight
_Right = Annotated[Right, Meta(description="a right such as CanActAs(party), or OtherRight")]


def new_rights(rights: Iterable[Right]) -> list[dict[str, Any]]:
    """Rights to be given, as the ledger interface writes them (contract: Resources, Right).

    Raises:
        InputError: an item is not a right, or names an invalid party.
    """
    checked: tuple[Right, ...] = each(rights, "rights", kind=_Right)
    return [
        {"kind": {right.kind: right.body} if isinstance(right, OtherRight) else wrapped(right)} for right in checked
    ]
