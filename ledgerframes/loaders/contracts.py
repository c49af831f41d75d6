"""Loaders of contracts: licenses, name rules, transfer offers, transfer preapprovals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import flag, names, suggesting
from ledgerframes.config.settings import source_of
from ledgerframes.decoding.personal import LEFT_OUT, json_columns, strip_batch
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals
from ledgerframes.loaders.table_loader import Form, FormOptions, Origin, items_of, list_pages
from ledgerframes.tables.contracts import LICENSES, NAME_RULES, TRANSFER_OFFERS, TRANSFER_PREAPPROVALS

if TYPE_CHECKING:
    from ledgerframes.network import Network

_BLOB: Final = "/created_event_blob"
_CONTACT: Final = "/payload/metadata/contactPoint"


@overload
def load_licenses(
    net: Network,
    *,
    personal: bool | None = ...,
    blobs: bool = ...,
    as_: Literal["pandas"] = ...,
    **form: Unpack[FormOptions],
) -> pd.DataFrame: ...
@overload
def load_licenses(
    net: Network, *, personal: bool | None = ..., blobs: bool = ..., as_: Literal["arrow"], **form: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_licenses(
    net: Network, *, personal: bool | None = ..., blobs: bool = ..., as_: Literal["polars"], **form: Unpack[FormOptions]
) -> Any: ...
@suggesting
def load_licenses(
    net: Network,
    *,
    personal: bool | None = None,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the validator licenses, one row a validator (contract: GET /v0/admin/validator/licenses).

    A license is created anew at every change and can move between pages while they are read, so the newest of each
    validator is kept (by `created_at`; of equal ones the one that came later). The order is the server's.

    Args:
        net: the network; its scan is asked.
        personal: keep the operators' contact points: a column, and the member in `payload`; as `connect` was told
            where nothing is said here.
        blobs: keep `created_event_blob`, more than half of the bytes. Contact points can be read in it, so it needs
            `personal=True`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per validator: contract_id, created_at, validator, sponsor, last_active_at, first_round, last_round,
        coupons_missed, version and more; `lf.describe("licenses")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     licenses = lf.load_licenses(net, columns=["validator", "version"])
        >>> licenses.shape
        (24, 2)
    """
    personal = keeps_personal(net, asked=personal)
    if flag(blobs, "blobs") and not personal:
        raise InputError(
            "blobs=True needs personal=True: the contact points of validators' operators can be read in the blobs of "
            "licenses; pass personal=True too, or to connect, or leave blobs out"
        )
    form = Form.of(
        LICENSES.having(*_asked(personal=personal, blobs=blobs)),
        columns=columns,
        as_=as_,
        decimals=decimals,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin(personal=personal, left_out=() if personal else (LEFT_OUT,))
    endpoint = LICENSES.endpoints[0]
    items = list_pages(
        origin, net.scan.raw.validator_licenses, items="validator_licenses", following="next_page_token",
        argument="after", endpoint=endpoint, form=form,
    )  # fmt: skip
    left_out = ([] if personal else [_CONTACT]) + ([] if blobs else [_BLOB])
    batch = read_records(form.table, items, endpoint, left_out=left_out)
    if not personal:
        batch, _ = strip_batch(batch, json_columns(form.table))
    return form.frame(_newest(batch), origin)


def keeps_personal(net: Network, *, asked: bool | None) -> bool:
    """Whether personal data is kept: as the caller of a loader says, or as `connect` was told.

    Raises:
        InputError: what the caller says is neither True nor False.
    """
    if asked is not None and not isinstance(asked, bool):
        raise InputError(f"personal={asked!r} is not valid: give True or False")
    return net.settings.personal if asked is None else asked


def _newest(batch: pa.RecordBatch) -> pa.RecordBatch:
    created = batch.column("created_at").cast(pa.int64()).to_pylist()
    best: dict[str, int] = {}
    for row, validator in enumerate(batch.column("validator").to_pylist()):
        if validator not in best or created[row] >= created[best[validator]]:
            best[validator] = row
    return batch if len(best) == batch.num_rows else batch.take(pa.array(sorted(best.values())))


@overload
def load_name_rules(
    net: Network, *, blobs: bool = ..., as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]
) -> pd.DataFrame: ...
@overload
def load_name_rules(
    net: Network, *, blobs: bool = ..., as_: Literal["arrow"], **form: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_name_rules(net: Network, *, blobs: bool = ..., as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...
@suggesting
def load_name_rules(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the rules of the name service: one row (contract: POST /v0/ans-rules).

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row: contract_id, template_id, created_at, payload and more; `lf.describe("name_rules")` lists every column
        with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     len(lf.load_name_rules(net))
        1
    """
    form = Form.of(
        NAME_RULES.having(*_asked(blobs=blobs)),
        columns=columns,
        as_=as_,
        decimals=decimals,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    item = origin.body(net.scan.raw.ans_rules).get("ans_rules_update", Raw(b"null"))
    left_out = [] if blobs else [f"/contract{_BLOB}"]
    return form.frame(read_records(form.table, [item], NAME_RULES.endpoints[0], left_out=left_out), origin)


@overload
def load_transfer_offers(
    net: Network, *, blobs: bool = ..., as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]
) -> pd.DataFrame: ...
@overload
def load_transfer_offers(
    net: Network, *, blobs: bool = ..., as_: Literal["arrow"], **form: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_transfer_offers(
    net: Network, *, blobs: bool = ..., as_: Literal["polars"], **form: Unpack[FormOptions]
) -> Any: ...
@suggesting
def load_transfer_offers(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the open transfer offers of the token's user (contract: GET /v0/wallet/transfer-offers).

    Args:
        net: the network; its validator is asked, with a token.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per offer: contract_id, sender, receiver, amount with its unit, description, expires_at, tracking_id and
        more; `lf.describe("transfer_offers")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     offers = lf.load_transfer_offers(net, columns=["sender", "amount"])
        >>> offers.shape
        (1, 2)
    """
    form = Form.of(
        TRANSFER_OFFERS.having(*_asked(blobs=blobs)),
        columns=columns,
        as_=as_,
        decimals=decimals,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    endpoint = TRANSFER_OFFERS.endpoints[0]
    items = items_of(origin.body(net.validator.raw.transfer_offers), "offers", endpoint)
    return form.frame(read_records(form.table, items, endpoint, left_out=[] if blobs else [_BLOB]), origin)


@overload
def load_transfer_preapprovals(
    net: Network,
    parties: Iterable[str],
    *,
    blobs: bool = ...,
    as_: Literal["pandas"] = ...,
    **form: Unpack[FormOptions],
) -> pd.DataFrame: ...
@overload
def load_transfer_preapprovals(
    net: Network, parties: Iterable[str], *, blobs: bool = ..., as_: Literal["arrow"], **form: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_transfer_preapprovals(
    net: Network, parties: Iterable[str], *, blobs: bool = ..., as_: Literal["polars"], **form: Unpack[FormOptions]
) -> Any: ...
@suggesting
def load_transfer_preapprovals(
    net: Network,
    parties: Iterable[str],
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load parties' transfer preapprovals (contract: GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}).

    Args:
        net: the network; its validator is asked once a party, with a token.
        parties: party ids; a row each, in this order, `found` False where there is no preapproval.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per party, in the order of `parties`: party, found, and the contract where there is one;
        `lf.describe("transfer_preapprovals")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.load_transfer_preapprovals(net, ["nobody::1220"]).found.to_list()
        [False]
    """
    form = Form.of(
        TRANSFER_PREAPPROVALS.having(*_asked(blobs=blobs)),
        columns=columns,
        as_=as_,
        decimals=decimals,
        limit=limit,
        allow_partial=allow_partial,
    )
    wanted = party_list(parties)
    origin = Origin({source_of(net.transport.servers("validator")[0]): None})
    items: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        items.extend(_preapproval(net, party, origin) for party in wanted[: form.limit])
    found = [bytes(item) != b"{}" for item in items]
    batch = read_records(
        form.table, items, TRANSFER_PREAPPROVALS.endpoints[0],
        given={"party": wanted[: len(items)], "found": found}, left_out=[] if blobs else [f"/contract{_BLOB}"],
    )  # fmt: skip
    return form.frame(batch, origin)


def _preapproval(net: Network, party: str, origin: Origin) -> Raw:
    """The preapproval with its state; an empty object where the 404 says that there is none."""
    members = origin.body(net.validator.raw.transfer_preapproval, party)
    return members.get("transfer_preapproval", Raw(b"null")) if members else Raw(b"{}")


def _asked(**asked: bool) -> list[str]:
    """The keywords that are True; each adds a column."""
    return [name for name, value in asked.items() if flag(value, name)]


def party_list(parties: Iterable[str]) -> list[str]:
    """A caller's parties, each once, in order.

    Raises:
        InputError: they are not a list of texts, or there is none.
    """
    wanted = names(parties, "parties")
    if not wanted:
        raise InputError("parties is empty; give at least one party id")
    return list(dict.fromkeys(wanted))
