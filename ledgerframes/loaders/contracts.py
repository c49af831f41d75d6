"""Loaders of contracts: validator licenses, name rules, transfer offers and transfer preapprovals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from msgspec import Raw

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.personal import LEFT_OUT, json_columns, strip_batch
from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import PartyId, distinct
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.contracts import LICENSES, NAME_RULES, TRANSFER_OFFERS, TRANSFER_PREAPPROVALS


@loader(LICENSES)
def load_licenses(load: TableLoad, *, blobs: bool = False) -> Any:
    """Load the validator licenses, one row per validator (contract: GET /v0/admin/validator/licenses).

    A license is created again at every change and can move between pages while they are read, so only the newest one of
    each validator is kept (by `created_at`; of equal ones the last received). The order is the server's.

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`, which is more than half of the bytes. It contains the contact points, so it
            needs `personal=True`.

    Returns:
        One row per validator: contract_id, created_at, validator, sponsor, last_active_at, first_round, last_round,
        coupons_missed, version and more; `lf.describe("licenses")` lists every column with its unit.

    Raises:
        PagingError: the scan repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     licenses = lf.load_licenses(net, columns=["validator", "version"])
        >>> licenses.shape
        (24, 2)
    """
    keeps = load.origin.personal
    # The blob is the whole contract in a binary form, contact point included.
    if blobs and not keeps:
        raise InputError(
            "blobs=True needs personal=True: the contact points of validators' operators can be read in the blobs of "
            "licenses; pass personal=True too, or to connect, or leave blobs out"
        )
    load.origin.left_out = () if keeps else (LEFT_OUT,)
    items = load.paged(
        load.net.scan.raw.validator_licenses, items="validator_licenses", following="next_page_token", argument="after"
    )
    batch = load.read(items)
    if not keeps:
        # The column names one member; the same data may also be elsewhere, in `extra` for example.
        batch, _ = strip_batch(batch, json_columns(load.table))
    return load.frame(_newest(batch))


def _newest(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The newest license of each validator, in the order of the batch."""
    created = batch.column("created_at").cast(pa.int64()).to_pylist()
    newest: dict[str, int] = {}
    for row, validator in enumerate(batch.column("validator").to_pylist()):
        # A row can move to a later page while pages are read, so of equal times the last received is newer.
        if validator not in newest or created[row] >= created[newest[validator]]:
            newest[validator] = row
    return batch if len(newest) == batch.num_rows else batch.take(pa.array(sorted(newest.values())))


@loader(NAME_RULES)
def load_name_rules(load: TableLoad) -> Any:
    """Load the rules of the name service, one row (contract: POST /v0/ans-rules).

    Args:
        net: the network; its scan is asked.

    Returns:
        One row: contract_id, template_id, created_at, payload and more; `lf.describe("name_rules")` lists every column
        with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     len(lf.load_name_rules(net))
        1
    """
    item = load.origin.body(load.net.scan.raw.ans_rules).get("ans_rules_update", Raw(b"null"))
    return load.frame(load.read([item]))


@loader(TRANSFER_OFFERS)
def load_transfer_offers(load: TableLoad) -> Any:
    """Load the open transfer offers of the token's user (contract: GET /v0/wallet/transfer-offers).

    Args:
        net: the network; its validator is asked, with a token.

    Returns:
        One row per offer: contract_id, sender, receiver, amount with its unit, description, expires_at, tracking_id and
        more; `lf.describe("transfer_offers")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     offers = lf.load_transfer_offers(net, columns=["sender", "amount"])
        >>> offers.shape
        (1, 2)
    """
    items = load.items("offers", load.net.validator.raw.transfer_offers)
    return load.frame(load.read(items))


@loader(TRANSFER_PREAPPROVALS)
def load_transfer_preapprovals(load: TableLoad, parties: Iterable[str]) -> Any:
    """Load parties' transfer preapprovals (contract: GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}).

    Args:
        net: the network; its validator is asked once per party, with a token.
        parties: party ids, one row for each; `found` is False if there is no preapproval.

    Returns:
        One row per party, in the order of `parties`: party, found, and the contract if there is one;
        `lf.describe("transfer_preapprovals")` lists every column with its unit.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.load_transfer_preapprovals(net, ["nobody::1220"]).found.to_list()
        [False]
    """
    wanted = party_list(parties)
    items: list[Raw] = []
    with load.asking():
        items.extend(_preapproval(load, party) for party in wanted[: load.limit])
    found = [bytes(item) != b"{}" for item in items]
    return load.frame(load.read(items, party=wanted[: len(items)], found=found))


def _preapproval(load: TableLoad, party: str) -> Raw:
    """The preapproval with its state; an empty object if a 404 answers that there is none."""
    members = load.origin.body(load.net.validator.raw.transfer_preapproval, party)
    answered = load.net.transport.servers("validator")[0]  # with a 404 too
    load.origin.servers[source_of(answered)] = None
    # A 404 is the servers' normal answer for a party without one.
    return members.get("transfer_preapproval", Raw(b"null")) if members else Raw(b"{}")


def party_list(parties: Iterable[str]) -> list[str]:
    """The parties that a caller gave, each once, in order.

    Raises:
        InputError: they are not a list of party ids, or the list is empty.
    """
    return distinct(parties, "parties", empty="; give at least one party id", kind=PartyId)
