"""Loaders of contracts: licenses, name rules, transfer offers, transfer preapprovals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding.personal import LEFT_OUT, json_columns, strip_batch
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError
from ledgerframes.loaders.listing import Form, FormOptions, Origin, items_of, list_pages
from ledgerframes.settings import source_of
from ledgerframes.tables.contracts import LICENSES, NAME_RULES, TRANSFER_OFFERS, TRANSFER_PREAPPROVALS

if TYPE_CHECKING:
    from ledgerframes.network import Network

_BLOB: Final = "/created_event_blob"
_CONTACT: Final = "/payload/metadata/contactPoint"


def load_licenses(
    net: Network, *, personal: bool | None = None, blobs: bool = False, **options: Unpack[FormOptions]
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
        options: see `FormOptions`.

    Raises:
        InputError: an argument breaks a rule.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.
    """
    personal = keeps_personal(net, asked=personal)
    if blobs and not personal:
        raise InputError(
            "blobs=True needs personal=True: the contact points of validators' operators can be read in the blobs of "
            "licenses; pass personal=True too, or to connect, or leave blobs out"
        )
    asked = [name for name, wanted in (("personal", personal), ("blobs", blobs)) if wanted]
    form = Form.of(LICENSES.having(*asked), options)
    origin = Origin(personal=personal, left_out=() if personal else (LEFT_OUT,))
    endpoint = LICENSES.endpoints[0]
    items = list_pages(
        origin, net.scan, "validator_licenses", items="validator_licenses", following="next_page_token",
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


def load_name_rules(net: Network, *, blobs: bool = False, **options: Unpack[FormOptions]) -> Any:
    """Load the rules of the name service: one row (contract: POST /v0/ans-rules).

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`.
        options: see `FormOptions`.
    """
    form = Form.of(NAME_RULES.having(*(["blobs"] if blobs else [])), options)
    origin = Origin()
    item = origin.body(net.scan, "ans_rules").get("ans_rules_update", Raw(b"null"))
    left_out = [] if blobs else [f"/contract{_BLOB}"]
    return form.frame(read_records(form.table, [item], NAME_RULES.endpoints[0], left_out=left_out), origin)


def load_transfer_offers(net: Network, *, blobs: bool = False, **options: Unpack[FormOptions]) -> Any:
    """Load the open transfer offers of the token's user (contract: GET /v0/wallet/transfer-offers).

    Args:
        net: the network; its validator is asked, with a token.
        blobs: keep `created_event_blob`.
        options: see `FormOptions`.
    """
    form = Form.of(TRANSFER_OFFERS.having(*(["blobs"] if blobs else [])), options)
    origin = Origin()
    endpoint = TRANSFER_OFFERS.endpoints[0]
    items = items_of(origin.body(net.validator, "transfer_offers"), "offers", endpoint)
    return form.frame(read_records(form.table, items, endpoint, left_out=[] if blobs else [_BLOB]), origin)


def load_transfer_preapprovals(
    net: Network, parties: Sequence[str], *, blobs: bool = False, **options: Unpack[FormOptions]
) -> Any:
    """Load parties' transfer preapprovals (contract: GET /v0/scan-proxy/transfer-preapprovals/by-party/{party}).

    Args:
        net: the network; its validator is asked once a party, with a token.
        parties: party ids; a row each, in this order, `found` False where there is no preapproval.
        blobs: keep `created_event_blob`.
        options: see `FormOptions`.
    """
    form = Form.of(TRANSFER_PREAPPROVALS.having(*(["blobs"] if blobs else [])), options)
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
    members = origin.body(net.validator, "transfer_preapproval", party)
    return members.get("transfer_preapproval", Raw(b"null")) if members else Raw(b"{}")


def party_list(parties: Sequence[str]) -> list[str]:
    """A caller's parties, each once, in order.

    Raises:
        InputError: they are no list of texts, or none at all.
    """
    if isinstance(parties, str) or not all(isinstance(party, str) and party for party in parties):
        raise InputError(f"parties={parties!r}: give a list of party ids")
    if not len(parties):
        raise InputError("parties is empty; give at least one party id")
    return list(dict.fromkeys(parties))
