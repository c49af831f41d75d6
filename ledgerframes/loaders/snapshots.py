"""Loaders of the current instruments, name-service entries and users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Unpack, overload

import msgspec
import pandas as pd
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.arguments import names, suggesting
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError, InputError, NotFoundError
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.interfaces.registry import INSTRUMENT
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.signatures import FormOptions, snapshot_loader
from ledgerframes.loaders.table_loader import Form, Origin, items_of, list_pages
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS

if TYPE_CHECKING:
    from ledgerframes.network import Network


@overload
def load_instruments(
    net: Network, *, ids: Iterable[str] | None = ..., as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]
) -> pd.DataFrame: ...
@overload
def load_instruments(
    net: Network, *, ids: Iterable[str] | None = ..., as_: Literal["arrow"], **form: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_instruments(
    net: Network, *, ids: Iterable[str] | None = ..., as_: Literal["polars"], **form: Unpack[FormOptions]
) -> Any: ...
@suggesting
def load_instruments(
    net: Network,
    *,
    ids: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the instruments of the registry's admin (contract: GET /registry/metadata/v1/instruments).

    Older registries leave out the supply, pause and account fields: those columns are null, and `paused` is False.
    `net.registry.info().admin_id` is the admin.

    Args:
        net: the network; its registry is asked.
        ids: only these instruments, in this order, with one request each; a registry that cannot look up a single
            instrument is read whole. All by default.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per instrument: instrument_id, symbol, total_supply (in the instrument's own unit), total_supply_as_of,
        decimals, paused and more; `lf.describe("instruments")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule, or the registry's admin manages no instrument of an id.
        RequestError: the registry gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the registry repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     instruments = lf.load_instruments(net, columns=["instrument_id", "total_supply"])
        >>> instruments.shape
        (1, 2)
    """
    form = Form.of(
        INSTRUMENTS,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    wanted = None if ids is None else _instrument_ids(ids)
    origin = Origin()
    items = _all_instruments(net, origin, form) if wanted is None else _instruments(net, wanted, origin, form)
    return form.frame(read_records(INSTRUMENTS, items, INSTRUMENTS.endpoints[0]), origin)


def _instrument_ids(ids: Iterable[str]) -> list[str]:
    """The ids that a caller gave, each once, in order.

    Raises:
        InputError: they are not a list of texts, or the list is empty.
    """
    wanted = list(dict.fromkeys(names(ids, "ids")))
    if not wanted:
        raise InputError("ids is empty: give at least one instrument id, or leave it out for all instruments")
    return wanted


def _all_instruments(net: Network, origin: Origin, form: Form) -> list[Raw]:
    return list_pages(
        origin, net.registry.raw.instruments, items="instruments", following="nextPageToken",
        argument="page_token", endpoint=INSTRUMENTS.endpoints[0], form=form,
    )  # fmt: skip


def _instruments(net: Network, wanted: list[str], origin: Origin, form: Form) -> list[Raw]:
    """The items of these instruments, in this order.

    Raises:
        InputError: the registry has no instrument of an id.
    """
    items: list[Raw] = []
    chosen = wanted[: form.limit]
    with origin.tolerating(allow_partial=form.allow_partial):
        try:
            items.extend(_instrument(net, instrument_id, origin) for instrument_id in chosen)
        except NotFoundError as error:
            if not error.unknown_route:
                raise
            # Some registries only list their instruments; part of a list cannot prove that an id is not in it.
            whole = _all_instruments(net, origin, replace(form, limit=None, allow_partial=False))
            listed = {_id_of(item): item for item in whole}
            items = [listed[name] if name in listed else _refuse_id(name) for name in chosen]
    return items


class _Named(Struct):
    id: str


_named: Final = msgspec.json.Decoder(_Named)


def _id_of(item: Raw) -> str:
    try:
        return _named.decode(item).id
    except msgspec.DecodeError as error:
        endpoint = INSTRUMENTS.endpoints[0]
        raise DecodeError(
            f"{endpoint}: {error}", endpoint=endpoint, table=INSTRUMENTS.name, column="instrument_id"
        ) from error


def _instrument(net: Network, instrument_id: str, origin: Origin) -> Raw:
    answer = net.registry.raw.instrument(instrument_id)
    if answer is None:
        _refuse_id(instrument_id)
    members = origin.body(lambda: answer)
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


@snapshot_loader
def load_name_entries(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the name-service entries of the token's user (contract: GET /v0/entry/all).

    Args:
        net: the network; its validator is asked, with a token.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per entry: contract_id, name, amount with its unit, expires_at, payment_interval_us and
        payment_duration_us (microseconds); `lf.describe("name_entries")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     entries = lf.load_name_entries(net, columns=["name", "expires_at"])
        >>> entries.shape
        (1, 2)
    """
    form = Form.of(
        NAME_ENTRIES,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    endpoint = NAME_ENTRIES.endpoints[0]
    items = items_of(origin.body(net.validator.raw.name_entries), "entries", endpoint)
    return form.frame(read_records(NAME_ENTRIES, items, endpoint), origin)


@snapshot_loader
def load_users(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the users of the participant (contract: GET /v2/users).

    Args:
        net: the network; its ledger interface is asked, with a token.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per user: user_id, primary_party, is_deactivated, identity_provider_id and more; `lf.describe("users")`
        lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     users = lf.load_users(net, columns=["user_id", "primary_party"])
        >>> users.shape
        (322, 2)
    """
    form = Form.of(
        USERS,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    endpoint = USERS.endpoints[0]
    items = list_pages(
        origin, net.ledger.raw.list_users, items="users", following="nextPageToken",
        argument="page_token", endpoint=endpoint, form=form, optional=True,
    )  # fmt: skip
    return form.frame(read_records(USERS, items, endpoint), origin)
