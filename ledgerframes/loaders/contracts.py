"""Loaders of contracts: validator licenses, name rules, transfer offers and transfer preapprovals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import flag, names, shown, suggesting
from ledgerframes.config.settings import source_of
from ledgerframes.decoding.personal import LEFT_OUT, json_columns, strip_batch
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.signatures import ContractOptions, contract_loader
from ledgerframes.loaders.table_loader import Form, Origin, items_of, list_pages
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
    as_: Literal["pandas"] = ...,
    **form: Unpack[ContractOptions],
) -> pd.DataFrame: ...
@overload
def load_licenses(
    net: Network, *, personal: bool | None = ..., as_: Literal["arrow"], **form: Unpack[ContractOptions]
) -> pa.Table: ...
@overload
def load_licenses(
    net: Network, *, personal: bool | None = ..., as_: Literal["polars"], **form: Unpack[ContractOptions]
) -> Any: ...
@suggesting
def load_licenses(
    net: Network,
    *,
    personal: bool | None = None,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the validator licenses, one row per validator (contract: GET /v0/admin/validator/licenses).

    A license is created anew at every change and can move between pages while they are read, so only the newest one of
    each validator is kept (by `created_at`; of equal ones the last received). The order is the server's.

    Args:
        net: the network; its scan is asked.
        personal: keep the operators' contact points: a column, and the member in `payload`. None takes the setting
            of `connect`.
        blobs: keep `created_event_blob`, which is more than half of the bytes. It contains the contact points, so it
            needs `personal=True`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per validator: contract_id, created_at, validator, sponsor, last_active_at, first_round, last_round,
        coupons_missed, version and more; `lf.describe("licenses")` lists every column with its unit.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the scan repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     licenses = lf.load_licenses(net, columns=["validator", "version"])
        >>> licenses.shape
        (24, 2)
    """
    personal = keeps_personal(net, asked=personal)
    # The blob is the whole contract in a binary form, contact point included.
    if flag(blobs, "blobs") and not personal:
        raise InputError(
            "blobs=True needs personal=True: the contact points of validators' operators can be read in the blobs of "
            "licenses; pass personal=True too, or to connect, or leave blobs out"
        )
    form = Form.of(
        LICENSES.having(*_asked(personal=personal, blobs=blobs)), columns=columns, as_=as_,
        decimals=held(net, decimals), lists=lists, limit=limit, allow_partial=allow_partial,
    )  # fmt: skip
    origin = Origin(personal=personal, left_out=() if personal else (LEFT_OUT,))
    endpoint = LICENSES.endpoints[0]
    items = list_pages(
        origin, net.scan.raw.validator_licenses, items="validator_licenses", following="next_page_token",
        argument="after", endpoint=endpoint, form=form,
    )  # fmt: skip
    left_out = ([] if personal else [_CONTACT]) + ([] if blobs else [_BLOB])
    batch = read_records(form.table, items, endpoint, left_out=left_out)
    if not personal:
        # `left_out` names one member; the same data may also stand elsewhere, in `extra` for example.
        batch, _ = strip_batch(batch, json_columns(form.table))
    return form.frame(_newest(batch), origin)


def keeps_personal(net: Network, *, asked: bool | None) -> bool:
    """Whether to keep personal data: what the caller of a loader gave, or the setting of `connect`.

    Raises:
        InputError: the value is neither True nor False.
    """
    if asked is not None and not isinstance(asked, bool):
        raise InputError(f"personal={shown(asked)} is not valid: give True or False")
    return net.settings.personal if asked is None else asked


def _newest(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The newest license of each validator, in the order of the batch."""
    created = batch.column("created_at").cast(pa.int64()).to_pylist()
    newest: dict[str, int] = {}
    for row, validator in enumerate(batch.column("validator").to_pylist()):
        # A row can move to a later page while pages are read, so of equal times the last received is newer.
        if validator not in newest or created[row] >= created[newest[validator]]:
            newest[validator] = row
    return batch if len(newest) == batch.num_rows else batch.take(pa.array(sorted(newest.values())))


@contract_loader
def load_name_rules(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the rules of the name service, one row (contract: POST /v0/ans-rules).

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

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
        NAME_RULES.having(*_asked(blobs=blobs)), columns=columns, as_=as_,
        decimals=held(net, decimals), lists=lists, limit=limit, allow_partial=allow_partial,
    )  # fmt: skip
    origin = Origin()
    item = origin.body(net.scan.raw.ans_rules).get("ans_rules_update", Raw(b"null"))
    left_out = [] if blobs else [f"/contract{_BLOB}"]
    return form.frame(read_records(form.table, [item], NAME_RULES.endpoints[0], left_out=left_out), origin)


@contract_loader
def load_transfer_offers(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the open transfer offers of the token's user (contract: GET /v0/wallet/transfer-offers).

    Args:
        net: the network; its validator is asked, with a token.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

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
        TRANSFER_OFFERS.having(*_asked(blobs=blobs)), columns=columns, as_=as_,
        decimals=held(net, decimals), lists=lists, limit=limit, allow_partial=allow_partial,
    )  # fmt: skip
    origin = Origin()
    endpoint = TRANSFER_OFFERS.endpoints[0]
    items = items_of(origin.body(net.validator.raw.transfer_offers), "offers", endpoint)
    return form.frame(read_records(form.table, items, endpoint, left_out=[] if blobs else [_BLOB]), origin)


@overload
def load_transfer_preapprovals(
    net: Network,
    parties: Iterable[str],
    *,
    as_: Literal["pandas"] = ...,
    **form: Unpack[ContractOptions],
) -> pd.DataFrame: ...
@overload
def load_transfer_preapprovals(
    net: Network, parties: Iterable[str], *, as_: Literal["arrow"], **form: Unpack[ContractOptions]
) -> pa.Table: ...
@overload
def load_transfer_preapprovals(
    net: Network, parties: Iterable[str], *, as_: Literal["polars"], **form: Unpack[ContractOptions]
) -> Any: ...
@suggesting
def load_transfer_preapprovals(
    net: Network,
    parties: Iterable[str],
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load parties' transfer preapprovals (contract: GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}).

    Args:
        net: the network; its validator is asked once per party, with a token.
        parties: party ids, one row for each; `found` is False where there is no preapproval.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

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
        TRANSFER_PREAPPROVALS.having(*_asked(blobs=blobs)), columns=columns, as_=as_,
        decimals=held(net, decimals), lists=lists, limit=limit, allow_partial=allow_partial,
    )  # fmt: skip
    wanted = party_list(parties)
    origin = Origin()
    items: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        items.extend(_preapproval(net, party, origin) for party in wanted[: form.limit])
    is_found = [bytes(item) != b"{}" for item in items]
    batch = read_records(
        form.table, items, TRANSFER_PREAPPROVALS.endpoints[0],
        given={"party": wanted[: len(items)], "found": is_found}, left_out=[] if blobs else [f"/contract{_BLOB}"],
    )  # fmt: skip
    return form.frame(batch, origin)


def _preapproval(net: Network, party: str, origin: Origin) -> Raw:
    """The preapproval with its state; an empty object where a 404 answers that there is none."""
    members = origin.body(net.validator.raw.transfer_preapproval, party)
    origin.servers[source_of(net.transport.servers("validator")[0])] = None  # the one that answered, with a 404 too
    # A 404 is the servers' normal answer for a party without one.
    return members.get("transfer_preapproval", Raw(b"null")) if members else Raw(b"{}")


def _asked(**asked: bool) -> list[str]:
    """The names of the keywords that are True; each adds a column."""
    return [name for name, value in asked.items() if flag(value, name)]


def party_list(parties: Iterable[str]) -> list[str]:
    """The parties that a caller gave, each once, in order.

    Raises:
        InputError: they are not a list of texts, or the list is empty.
    """
    wanted = names(parties, "parties")
    if not wanted:
        raise InputError("parties is empty; give at least one party id")
    return list(dict.fromkeys(wanted))
