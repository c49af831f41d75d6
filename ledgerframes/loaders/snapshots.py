"""Loaders of what is now: instruments, name-service entries, users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ledgerframes.decoding.records import read_records
from ledgerframes.loaders.listing import Form, FormOptions, Origin, items_of, list_pages
from ledgerframes.tables.snapshots import INSTRUMENTS, NAME_ENTRIES, USERS

if TYPE_CHECKING:
    from ledgerframes.network import Network


def load_instruments(net: Network, **options: Unpack[FormOptions]) -> Any:
    """Load the instruments of the registry's admin (contract: GET /registry/metadata/v1/instruments).

    Older registries leave out supply, pause and account fields; those are null, `paused` False.

    Args:
        net: the network; its registry is asked.
        options: see `FormOptions`.

    Raises:
        RequestError: the registry gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the registry repeats a page token.
    """
    form = Form.of(INSTRUMENTS, options)
    origin = Origin()
    endpoint = INSTRUMENTS.endpoints[0]
    items = list_pages(
        origin, net.registry, "instruments", items="instruments", following="nextPageToken",
        argument="page_token", endpoint=endpoint, form=form,
    )  # fmt: skip
    return form.frame(read_records(INSTRUMENTS, items, endpoint), origin)


def load_name_entries(net: Network, **options: Unpack[FormOptions]) -> Any:
    """Load the name-service entries of the token's user (contract: GET /v0/entry/all).

    Args:
        net: the network; its validator is asked, with a token.
        options: see `FormOptions`.
    """
    form = Form.of(NAME_ENTRIES, options)
    origin = Origin()
    endpoint = NAME_ENTRIES.endpoints[0]
    items = items_of(origin.body(net.validator, "name_entries"), "entries", endpoint)
    return form.frame(read_records(NAME_ENTRIES, items, endpoint), origin)


def load_users(net: Network, **options: Unpack[FormOptions]) -> Any:
    """Load the users of the participant (contract: GET /v2/users).

    Args:
        net: the network; its ledger interface is asked, with a token.
        options: see `FormOptions`.
    """
    form = Form.of(USERS, options)
    origin = Origin()
    endpoint = USERS.endpoints[0]
    items = list_pages(
        origin, net.ledger, "list_users", items="users", following="nextPageToken",
        argument="page_token", endpoint=endpoint, form=form, optional=True,
    )  # fmt: skip
    return form.frame(read_records(USERS, items, endpoint), origin)
