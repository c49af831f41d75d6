"""Loaders of the present contracts, instruments, name-service entries and users."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
from msgspec import Raw

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.personal import LEFT_OUT, json_columns, without_personal
from ledgerframes.errors import InputError, NotFoundError
from ledgerframes.interfaces.rules import PartyId, distinct
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.contracts import LICENSES, NAME_RULES, TRANSFER_OFFERS, TRANSFER_PREAPPROVALS
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS


@loader(LICENSES)
def load_licenses(load: TableLoad) -> Any:
    """Load the validator licenses, one row per validator (contract: GET /v0/admin/validator/licenses).

    A license is created again at every change and can move between pages while they are read, so only the newest one of
    each validator is kept (by `created_at`; of equal ones the last received). The order is the server's.

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
    if "created_event_blob" in load.table.names and not keeps:
        raise InputError(
            "blobs=True needs personal=True: the contact points of validators' operators can be read in the blobs of "
            "licenses; pass personal=True too, or to connect, or leave blobs out"
        )
    load.origin.left_out = () if keeps else (LEFT_OUT,)
    items = load.paged(
        load.net.scan, "validator_licenses", items="validator_licenses", following="next_page_token", argument="after"
    )
    batch = load.read(items)
    # The column names one member of the payload; the same data may also be elsewhere, in `extra` for example.
    for name in [] if keeps else json_columns(load.table):
        place = load.table.names.index(name)
        batch = batch.set_column(place, batch.schema.field(place), without_personal(batch.column(place)))
    return load.frame(_newest(batch))


def _newest(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The newest license of each validator, in the order of the batch."""
    # A row can move to a later page while pages are read, so of equal times the last received is newer.
    created = batch.select(["validator", "created_at"]).to_pandas().sort_values("created_at", kind="stable")
    return batch.take(pa.array(created.drop_duplicates("validator", keep="last").index.sort_values()))


@loader(NAME_RULES)
def load_name_rules(load: TableLoad) -> Any:
    """Load the rules of the name service, one row (contract: POST /v0/ans-rules).

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     len(lf.load_name_rules(net))
        1
    """
    with load.asking() as items:
        items.append(load.origin.body(load.net.scan.raw.ans_rules).get("ans_rules_update", Raw(b"null")))
    return load.frame(load.read(items))


@loader(TRANSFER_OFFERS)
def load_transfer_offers(load: TableLoad) -> Any:
    """Load the open transfer offers of the token's user (contract: GET /v0/wallet/transfer-offers).

    Args:
        net: the network; its validator is asked, with a token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     offers = lf.load_transfer_offers(net, columns=["sender", "amount"])
        >>> offers.shape
        (1, 2)
    """
    with load.asking() as items:
        items.extend(load.items("offers", load.net.validator.raw.transfer_offers))
    return load.frame(load.read(items))


@loader(TRANSFER_PREAPPROVALS)
def load_transfer_preapprovals(load: TableLoad, parties: Iterable[str]) -> Any:
    """Load parties' transfer preapprovals (contract: GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}).

    Args:
        net: the network; its validator is asked once per party, with a token.
        parties: party ids, one row for each different one, in this order; `found` is False if there is no preapproval.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.load_transfer_preapprovals(net, ["nobody::1220"]).found.to_list()
        [False]
    """
    wanted = distinct(parties, "parties", PartyId)
    with load.asking() as items:
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


@loader(INSTRUMENTS)
def load_instruments(load: TableLoad) -> Any:
    """Load the instruments of the registries (contract: GET /registry/metadata/v1/instruments).

    Each issuer has a registry of its own, so all of `connect(registry_url=[…])` are asked, one after the other.
    `instrument_admin` is the issuer's party, by which and its id the ledger knows an instrument, and `source` the
    registry's address; of two addresses with one admin the first is read. Older registries leave out the supply, pause
    and account fields: those columns are null, and `paused` is False; the admin is null where none is named. If
    `allow_partial` lets one fail, `attrs["source"]` has those that answered.

    Args:
        net: the network; its registries are asked.

    Raises:
        PagingError: a registry repeats a page token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     issuers = [*net.sandbox.registry_urls.values()]
        ...     with lf.connect(registry_url=issuers) as registries:
        ...         instruments = lf.load_instruments(registries, columns=["instrument_id", "source"])
        >>> instruments.instrument_id.to_list()
        ['Amulet', 'HARBOR-SILVER']
    """
    items: list[Raw] = []
    supplied: dict[str, list[Any]] = {"instrument_admin": [], "source": []}
    for server in load.net.settings.urls("registry"):
        registry = load.net.registry.on(server)
        admin = None
        with load.asking():
            with suppress(NotFoundError):  # it does not state which party manages its instruments
                admin = registry.info().admin_id
            if admin is None or admin not in supplied["instrument_admin"]:
                rest = load if load.limit is None else replace(load, limit=load.limit - len(items))
                found = rest.paged(
                    registry, "instruments", items="instruments", following="nextPageToken", argument="page_token"
                )
                items += found
                supplied["instrument_admin"] += [admin] * len(found)
                supplied["source"] += [source_of(server)] * len(found)
        if load.limit is not None and len(items) >= load.limit:
            break
    return load.frame(load.read(items, **supplied))


@loader(NAME_ENTRIES)
def load_name_entries(load: TableLoad) -> Any:
    """Load the name-service entries of the token's user (contract: GET /v0/entry/all).

    Args:
        net: the network; its validator is asked, with a token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     entries = lf.load_name_entries(net, columns=["name", "expires_at"])
        >>> entries.shape
        (1, 2)
    """
    with load.asking() as items:
        items.extend(load.items("entries", load.net.validator.raw.name_entries))
    return load.frame(load.read(items))


@loader(USERS)
def load_users(load: TableLoad) -> Any:
    """Load the users of the participant (contract: GET /v2/users).

    Args:
        net: the network; its ledger interface is asked, with a token.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     users = lf.load_users(net, columns=["user_id", "primary_party"])
        >>> users.shape
        (322, 2)
    """
    items = load.paged(
        load.net.ledger, "list_users", items="users", following="nextPageToken", argument="page_token", optional=True
    )
    return load.frame(load.read(items))
