"""`load_ledger_contracts`: the contracts that parties of a participant see as active, from the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError, PagingError
from ledgerframes.interfaces.answers import members_of, reading
from ledgerframes.interfaces.event_formats import EventFormat, whole_format
from ledgerframes.interfaces.ledger_answers import creation_members
from ledgerframes.interfaces.ledger_reads import CONTRACTS_PAGE, LedgerContract
from ledgerframes.interfaces.rules import Positive32, fits
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.ledger import views_of
from ledgerframes.loaders.one_participant import (
    ledger_pages,
    newest_offset,
    offset,
    parties_and_views,
    pruned_up_to,
)
from ledgerframes.loaders.table_loader import OneServer, TableLoad
from ledgerframes.tables.ledger import LEDGER_CONTRACTS

if TYPE_CHECKING:
    from ledgerframes.interfaces.ledger import Ledger

_ENDPOINT: Final = str(CONTRACTS_PAGE)


@loader(
    LEDGER_CONTRACTS,
    needs=(CONTRACTS_PAGE,),
    instead="take what the scan shows of the parties' contracts from lf.load_active_contracts(net, parties=…)",
)
def load_ledger_contracts(
    load: TableLoad,
    parties: Iterable[str] | None,
    *,
    at: int | None = None,
    interfaces: Iterable[str] = (),
    page_size: int | None = None,
) -> Any:
    """Load the contracts that parties of a participant see as active, private ones included.

    Offsets count the updates of one participant, so `at` takes a single `ledger_url`. If a participant fails on the
    way, another one of `ledger_url` is read from the beginning; rows of two never mix.

    Endpoints: POST /v2/state/active-contracts-page, GET /v2/state/ledger-end.

    Args:
        net: the network; its ledger interface is asked, with a token.
        parties: whose contracts: those that one of them signs or observes. None means all parties, which requires
            the right to read as any party.
        at: the offset after whose update the contracts were active; that of the newest update by default.
        interfaces: interfaces, such as `"#package-name:Module:Entity"`, whose views of the contracts are to be
            computed, for `interface_views`.
        page_size: contracts per request; the participant chooses by default, and refuses too large ones.

    Returns:
        One row per active contract, and one per reassignment under way: contract_id, kind, synchronizer_id, payload and
        more; `lf.describe("ledger_contracts")` lists every column with its unit. `attrs["offset"]` is the offset: the
        history continues there with `load_ledger_history(net, parties, start=attrs["offset"] + 1)`.

    Raises:
        InputError: an argument is not valid, no participant serves the route, or there are more than 100 pages and
            `limit` is not given.
        NotAuthorizedError: the token's user may not read as these parties, or as any party.
        PagingError: the pages contradict each other, so that rows would be lost or doubled.
        PartialResultError: the participant has pruned more than the updates up to `at`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     contracts = lf.load_ledger_contracts(net, None, at=1)
        >>> set(contracts.kind), contracts.attrs["offset"]
        ({'JsActiveContract'}, 1)
    """
    named, views = parties_and_views(parties, interfaces)
    size = fits(page_size, Positive32 | None, "page_size")
    at = offset(load.net, at, "at", least=0)
    shown = whole_format(named, interfaces=views).event_format
    one = OneServer(load.net.ledger, load.origin)
    read = load.whole(one, lambda: _pages(one, shown, at, size, load.limit))
    table = pa.Table.from_batches([batch for _, batch in read], schema=LEDGER_CONTRACTS.schema)
    return load.frame(table, offset=read[-1][0] if read else 0)


def _pages(
    one: OneServer[Ledger], shown: EventFormat, at: int | None, page_size: int | None, limit: int | None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The contracts of a snapshot with its offset, a page at a time, after an empty page.

    Raises:
        InputError: the participant has not reached the offset.
    """
    newest = newest_offset(one)
    if at is not None and at > newest:
        raise InputError(f"at={at} is after the participant's newest offset {newest}: give {newest} or less")
    place, rows = newest if at is None else at, 0
    yield place, _read_contracts(())
    pages = ledger_pages(
        lambda token: one.calls.active_contracts_page(
            event_format=shown, at_offset=place, page_size=page_size, page_token=token
        ),
        _ENDPOINT,
        items=lambda page: len(page.contracts),
        too_long=None if limit else "give limit= with as many rows as memory holds, or fewer parties",
        pruned=partial(pruned_up_to, _ENDPOINT, "at", at),
    )
    seen: set[tuple[Any, ...]] = set()
    for page in pages:
        if page.active_at_offset != place:
            raise PagingError(
                f"{_ENDPOINT}: the page belongs to the snapshot at offset {page.active_at_offset}, not {place}:"
                " contracts would be lost or come twice"
            )
        batch = _read_contracts(page.contracts)
        for name in zip(*(batch.column(key).to_pylist() for key in LEDGER_CONTRACTS.key), strict=True):
            if name in seen:
                raise PagingError(f"{_ENDPOINT}: contract {name[0]} comes twice as {name[1]} on {name[2]}")
            seen.add(name)
        yield place, batch
        rows += batch.num_rows
        if limit is not None and rows >= limit:
            return


def _read_contracts(contracts: Iterable[LedgerContract]) -> pa.RecordBatch:
    """Decode a page of active contracts.

    Raises:
        DecodeError: an entry breaks the interface's rules.
    """
    items: list[bytes] = []
    supplied: dict[str, list[Any]] = {"kind": [], "workflow_id": [], "view_interfaces": [], "payload": []}
    for position, contract in enumerate(contracts):
        with reading(_ENDPOINT, table=LEDGER_CONTRACTS.name, item=f"item {position}"):
            members = _flat(contract)
            payload = members.pop("createArgument", None)
            views = views_of(members)
        supplied["kind"].append(contract.kind)
        supplied["workflow_id"].append(contract.workflow_id)
        supplied["view_interfaces"].append(views)
        supplied["payload"].append(None if payload is None else bytes(payload).decode())
        items.append(msgspec.json.encode(members))
    return read_records(LEDGER_CONTRACTS, items, _ENDPOINT, supplied=supplied)


def _flat(contract: LedgerContract) -> dict[str, Raw]:
    """An entry's members side by side: the creation's, and those of the reassignment under way."""
    outer = members_of(contract.raw)
    move: dict[str, Raw] = {}
    for name in ("assignedEvent", "unassignedEvent"):
        if name in outer:
            move |= members_of(outer.pop(name))
    created = move.pop("createdEvent", None) or outer.pop("createdEvent", None)
    if created is None:
        raise msgspec.ValidationError(f"a contract entry has a createdEvent; this one has {sorted(outer)}")
    members = creation_members(created)
    # An unassignment has an offset and witnesses of its own; `extra` keeps the differences from the creation.
    beside = {name: value for name, value in move.items() if name in members and bytes(members[name]) != bytes(value)}
    whole = outer | move | members
    return whole | ({"unassignedEvent": Raw(msgspec.json.encode(beside))} if beside else {})
