"""Loaders of what is now: instruments, name-service entries, users."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.decoding.records import read_records
from ledgerframes.frames import As, Decimals
from ledgerframes.loaders.table_loader import Form, FormOptions, Origin, items_of, list_pages
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS

if TYPE_CHECKING:
    from ledgerframes.network import Network


@overload
def load_instruments(net: Network, *, as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]) -> pd.DataFrame: ...
@overload
def load_instruments(net: Network, *, as_: Literal["arrow"], **form: Unpack[FormOptions]) -> pa.Table: ...
@overload
def load_instruments(net: Network, *, as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...
@suggesting
def load_instruments(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the instruments of the registry's admin (contract: GET /registry/metadata/v1/instruments).

    Older registries leave out supply, pause and account fields; those are null, `paused` False.

    Args:
        net: the network; its registry is asked.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per instrument: instrument_id, symbol, total_supply (in the instrument's own unit), total_supply_as_of,
        decimals, paused and more; `lf.describe("instruments")` lists every column with its unit.

    Raises:
        RequestError: the registry gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the registry repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     instruments = lf.load_instruments(net, columns=["instrument_id", "total_supply"])
        >>> instruments.shape
        (60, 2)
    """
    form = Form.of(INSTRUMENTS, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial)
    origin = Origin()
    endpoint = INSTRUMENTS.endpoints[0]
    items = list_pages(
        origin, net.registry.raw.instruments, items="instruments", following="nextPageToken",
        argument="page_token", endpoint=endpoint, form=form,
    )  # fmt: skip
    return form.frame(read_records(INSTRUMENTS, items, endpoint), origin)


@overload
def load_name_entries(net: Network, *, as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]) -> pd.DataFrame: ...
@overload
def load_name_entries(net: Network, *, as_: Literal["arrow"], **form: Unpack[FormOptions]) -> pa.Table: ...
@overload
def load_name_entries(net: Network, *, as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...
@suggesting
def load_name_entries(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the name-service entries of the token's user (contract: GET /v0/entry/all).

    Args:
        net: the network; its validator is asked, with a token.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

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
    form = Form.of(NAME_ENTRIES, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial)
    origin = Origin()
    endpoint = NAME_ENTRIES.endpoints[0]
    items = items_of(origin.body(net.validator.raw.name_entries), "entries", endpoint)
    return form.frame(read_records(NAME_ENTRIES, items, endpoint), origin)


@overload
def load_users(net: Network, *, as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]) -> pd.DataFrame: ...
@overload
def load_users(net: Network, *, as_: Literal["arrow"], **form: Unpack[FormOptions]) -> pa.Table: ...
@overload
def load_users(net: Network, *, as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...
@suggesting
def load_users(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the users of the participant (contract: GET /v2/users).

    Args:
        net: the network; its ledger interface is asked, with a token.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

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
    form = Form.of(USERS, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial)
    origin = Origin()
    endpoint = USERS.endpoints[0]
    items = list_pages(
        origin, net.ledger.raw.list_users, items="users", following="nextPageToken",
        argument="page_token", endpoint=endpoint, form=form, optional=True,
    )  # fmt: skip
    return form.frame(read_records(USERS, items, endpoint), origin)
