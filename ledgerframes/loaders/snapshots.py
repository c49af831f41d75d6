"""Loaders of the current instruments, name-service entries and users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NoReturn

import msgspec
from msgspec import Raw, Struct

from ledgerframes.arguments import names
from ledgerframes.errors import DecodeError, InputError, NotFoundError
from ledgerframes.interfaces.answers import reading
from ledgerframes.interfaces.registry import INSTRUMENT
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS


@loader(INSTRUMENTS)
def load_instruments(load: TableLoad, *, ids: Iterable[str] | None = None) -> Any:
    """Load the instruments of the registry's admin (contract: GET /registry/metadata/v1/instruments).

    Older registries leave out the supply, pause and account fields: those columns are null, and `paused` is False.
    `net.registry.info().admin_id` is the admin.

    Args:
        net: the network; its registry is asked.
        ids: only these instruments, in this order, with one request each; a registry that cannot look up a single
            instrument is read whole. All by default.

    Returns:
        One row per instrument: instrument_id, symbol, total_supply (in the instrument's own unit), total_supply_as_of,
        decimals, paused and more; `lf.describe("instruments")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule, or the registry's admin manages no instrument of an id.
        PagingError: the registry repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     instruments = lf.load_instruments(net, columns=["instrument_id", "total_supply"])
        >>> instruments.shape
        (1, 2)
    """
    items = _all_instruments(load) if ids is None else _instruments(load, _instrument_ids(ids))
    return load.frame(load.read(items))


def _instrument_ids(ids: Iterable[str]) -> list[str]:
    """The ids that a caller gave, each once, in order.

    Raises:
        InputError: they are not a list of texts, or the list is empty.
    """
    wanted = list(dict.fromkeys(names(ids, "ids")))
    if not wanted:
        raise InputError("ids is empty: give at least one instrument id, or leave it out for all instruments")
    return wanted


def _all_instruments(load: TableLoad) -> list[Raw]:
    call = load.net.registry.raw.instruments
    return load.paged(call, items="instruments", following="nextPageToken", argument="page_token")


def _instruments(load: TableLoad, wanted: list[str]) -> list[Raw]:
    """The items of these instruments, in this order.

    Raises:
        InputError: the registry has no instrument of an id.
    """
    items: list[Raw] = []
    chosen = wanted[: load.limit]
    with load.asking():
        try:
            items.extend(_instrument(load, instrument_id) for instrument_id in chosen)
        except NotFoundError as error:
            if not error.unknown_route:
                raise
            # Some registries only list their instruments; part of a list cannot prove that an id is not in it.
            whole = _all_instruments(replace(load, limit=None, allow_partial=False))
            listed = {_id_of(item): item for item in whole}
            items = [listed[name] if name in listed else _refuse_id(name) for name in chosen]
    return items


class _Named(Struct):
    id: str


_named: Final = msgspec.json.Decoder(_Named)


def _id_of(item: Raw) -> str:
    with reading(INSTRUMENTS.endpoints[0], table=INSTRUMENTS.name, column="instrument_id"):
        return _named.decode(item).id


def _instrument(load: TableLoad, instrument_id: str) -> Raw:
    answer = load.net.registry.raw.instrument(instrument_id)
    if answer is None:
        _refuse_id(instrument_id)
    members = load.origin.body(lambda: answer)
    if bytes(members.get("id", b"null")) != msgspec.json.encode(instrument_id):
        given = bytes(members.get("id", b"null")).decode()[:80]
        raise DecodeError(
            f"{INSTRUMENT}: instrument {instrument_id!r} was requested, and the answer has the id {given}",
            endpoint=str(INSTRUMENT), table=INSTRUMENTS.name, column="instrument_id",
        )  # fmt: skip
    return Raw(answer.value)


def _refuse_id(instrument_id: str) -> NoReturn:
    raise InputError(
        f"ids: the registry's admin manages no instrument {instrument_id!r}; lf.load_instruments(net) lists all of them"
    )


@loader(NAME_ENTRIES)
def load_name_entries(load: TableLoad) -> Any:
    """Load the name-service entries of the token's user (contract: GET /v0/entry/all).

    Args:
        net: the network; its validator is asked, with a token.

    Returns:
        One row per entry: contract_id, name, amount with its unit, expires_at, payment_interval_us and
        payment_duration_us (microseconds); `lf.describe("name_entries")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     entries = lf.load_name_entries(net, columns=["name", "expires_at"])
        >>> entries.shape
        (1, 2)
    """
    return load.frame(load.read(load.items("entries", load.net.validator.raw.name_entries)))


@loader(USERS)
def load_users(load: TableLoad) -> Any:
    """Load the users of the participant (contract: GET /v2/users).

    Args:
        net: the network; its ledger interface is asked, with a token.

    Returns:
        One row per user: user_id, primary_party, is_deactivated, identity_provider_id and more; `lf.describe("users")`
        lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     users = lf.load_users(net, columns=["user_id", "primary_party"])
        >>> users.shape
        (322, 2)
    """
    items = load.paged(
        load.net.ledger.raw.list_users, items="users", following="nextPageToken", argument="page_token", optional=True
    )
    return load.frame(load.read(items))
