"""`load_ledger_transaction` and `load_ledger_history`: what parties of a participant saw, from the ledger interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw, Struct

from ledgerframes.arguments import whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import InputError, PagingError
from ledgerframes.frames import shown_by_rows
from ledgerframes.interfaces.answers import elements_of, members_of, reading, reads
from ledgerframes.interfaces.event_formats import TransactionFormat, whole_format
from ledgerframes.interfaces.ledger_answers import creation_members
from ledgerframes.interfaces.ledger_reads import UPDATE_BY_HASH, UPDATE_BY_ID, UPDATES_PAGE, LedgerUpdatesPage, only
from ledgerframes.interfaces.rules import Positive32, fits
from ledgerframes.loaders.declaring import SHAPE, loader
from ledgerframes.loaders.one_participant import (
    ledger_pages,
    newest_offset,
    offset,
    parties_and_views,
    pruned_up_to,
)
from ledgerframes.loaders.table_loader import OneServer, TableLoad
from ledgerframes.tables.ledger import LEDGER_EVENTS, LEDGER_TRANSACTIONS
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.ledger import Ledger

Frame = TypeVar("Frame")


@shown_by_rows
class LedgerHistory(NamedTuple, Generic[Frame]):
    """A part of a participant's history, as its parties saw it.

    Attributes:
        transactions: one row per transaction and reassignment.
        events: one row per event of them.
    """

    transactions: Frame
    events: Frame


@loader(LEDGER_TRANSACTIONS, keywords=SHAPE)
def load_ledger_transaction(
    load: TableLoad,
    update_id: str | None = None,
    *,
    hash: str | None = None,  # noqa: A002 - the field's word
    parties: Iterable[str] | None = None,
    interfaces: Iterable[str] = (),
) -> LedgerHistory[Any]:
    """Load one transaction or reassignment by its id (contract: POST /v2/updates/transaction-by-id, or its successor).

    Creations and exercises of every template are requested, by POST /v2/updates/update-by-id. Older participants, which
    have only transaction-by-id, find no reassignments. A hash is looked up by POST /v2/updates/update-by-hash.

    Args:
        net: the network; its ledger interface is asked, with a token.
        update_id: the update's id.
        hash: the transaction's hash instead, as `transaction_hash` has it or as it was signed; participants of Canton
            3.6 and later know those of transactions that an external party signed.
        parties: whose view; events that none of them sees are left out. None is any party's view, which requires
            the right to read as any party; with a token that has fewer rights, name the parties it may read as.
        interfaces: interfaces, such as `"#package-name:Module:Entity"`, whose views of the created contracts are to
            be computed, for `interface_views`.

    Returns:
        LedgerHistory(transactions, events): one row for the update, and one row per event in the order of the
        answer; `lf.describe("ledger_events")` lists the columns with their units.

    Raises:
        InputError: an argument breaks a rule, or both or neither of id and hash are given; nothing was sent.
        NotFoundError: the participant does not know the update, or its release does not look up hashes.
        NotAuthorizedError: the token's user may not read as these parties, or as any party.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50, release="0.9") as net:
        ...     update_id = lf.load_updates(net).update_id.iloc[-1]
        ...     transactions, events = lf.load_ledger_transaction(net, update_id)
        >>> transactions.update_id.to_list() == [update_id]
        True
    """
    named, views = parties_and_views(parties, interfaces)
    shown = whole_format(named, interfaces=views)
    if (update_id is None) == (hash is None):
        problem = "both are given" if update_id is not None else "neither is given"
        raise InputError(f"update_id= and hash=: {problem}; give exactly one of them")
    net = load.net
    if hash is not None:
        answer, endpoint = net.ledger.update_by_hash(hash, transaction_format=shown), UPDATE_BY_HASH
    else:
        assert update_id is not None
        answer, endpoint = net.ledger.update_by_id(update_id, transaction_format=shown), UPDATE_BY_ID
    load.origin.servers[source_of(net.transport.servers("ledger")[0])] = None
    transactions, events = read_ledger_items([answer.raw], str(endpoint))
    return LedgerHistory(load.frame(transactions), load.of_table(LEDGER_EVENTS).frame(events))


def read_ledger_items(items: Sequence[bytes], endpoint: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The two tables of transactions, trees (`eventsById`) and reassignments, events flat or wrapped alike.

    Raises:
        DecodeError: an item breaks the contract.
    """
    events = [_events_of(item, position, endpoint) for position, item in enumerate(items)]
    counts = [len(of_one) for of_one in events]
    transactions = read_records(
        LEDGER_TRANSACTIONS, items, endpoint, supplied={"event_count": counts}, left_out=["/events", "/eventsById"]
    )
    flat = [event for of_one in events for event in of_one]
    above = [position for position, count in enumerate(counts) for _ in range(count)]
    shared = ("update_id", "record_time", "synchronizer_id")
    supplied = {
        **{name: transactions.column(name).take(pa.array(above, pa.int64())).to_pylist() for name in shared},
        "kind": [event.kind for event in flat],
        "view_interfaces": [event.views for event in flat],
        "payload": [None if event.payload is None else bytes(event.payload).decode() for event in flat],
    }
    return transactions, read_records(LEDGER_EVENTS, [event.item for event in flat], endpoint, supplied=supplied)


def _events_of(item: bytes, position: int, endpoint: str) -> list[_Event]:
    with reading(endpoint, table=LEDGER_EVENTS.name, item=f"item {position}"):
        members = members_of(item)
        if "eventsById" in members:
            wrapped = list(members_of(members["eventsById"]).values())
        else:
            wrapped = elements_of(members.get("events", Raw(b"[]")))
        return [_unwrap(event) for event in wrapped]


class _Event(NamedTuple):
    kind: str
    item: bytes
    payload: Raw | None
    views: list[str] | None


class _View(Struct, rename="camel"):
    interface_id: str


_views = msgspec.json.Decoder(list[_View] | None)


def _unwrap(event: Raw) -> _Event:
    """An event's kind and its members, whether they lie flat or under `value`; an assignment's contract is raised."""
    kind, inner = only(members_of(event), "an event")
    members = members_of(inner)
    if "value" in members:  # no event that lies flat has a member of this name
        members |= members_of(members.pop("value"))
    if "createdEvent" in members:
        members = creation_members(members.pop("createdEvent")) | members
    payload = members.pop("createArgument", None)
    if payload is None:
        payload = members.pop("choiceArgument", None)
    return _Event(kind, msgspec.json.encode(members), payload, views_of(members))


def views_of(members: dict[str, Raw]) -> list[str] | None:
    """The interfaces whose views a created contract comes with.

    Raises:
        msgspec.DecodeError: they break the contract.
    """
    views = _views.decode(members.get("interfaceViews", b"null"))
    return None if views is None else [view.interface_id for view in views]


_ENDPOINT: Final = str(UPDATES_PAGE)


@loader(
    LEDGER_TRANSACTIONS,
    needs=(UPDATES_PAGE,),
    instead="load single updates with lf.load_ledger_transaction(net, update_id), or what the scan shows of them with"
    " lf.load_history",
    keywords=(*SHAPE, "allow_partial"),
)
def load_ledger_history(
    load: TableLoad,
    parties: Iterable[str] | None,
    *,
    start: int | None = None,
    end: int | None = None,
    limit: int | None = None,
    interfaces: Iterable[str] = (),
    page_size: int | None = None,
) -> LedgerHistory[Any]:
    """Load what parties of a participant saw: transactions, reassignments and their events, private ones included.

    Creations and exercises of every template are loaded, up to the update that is the participant's newest when the
    load begins. Offsets count the updates of one participant, so `start` and `end` take a single `ledger_url`. If a
    participant fails on the way, another one of `ledger_url` is read from the beginning; rows of two never mix.

    Endpoints: POST /v2/updates/get-updates-page, GET /v2/state/ledger-end.

    Args:
        net: the network; its ledger interface is asked, with a token.
        parties: whose view; events that none of them sees are left out. None is any party's view, which requires
            the right to read as any party.
        start: the offset of the first update, inclusive; by default where the participant's history begins, which a
            participant may have pruned.
        end: the offset before which the load ends; one after the newest by default. If the newest is before it,
            `attrs["complete"]` is False.
        limit: load at most this many updates. If it ends the result, `attrs["limit"]` says so.
        interfaces: interfaces, such as `"#package-name:Module:Entity"`, whose views of the created contracts are to
            be computed, for `interface_views`.
        page_size: updates per request; the participant chooses by default, and refuses too large ones.

    Returns:
        LedgerHistory(transactions, events): one row per update in the order of offsets, and one row per event;
        `lf.describe("ledger_events")` lists the columns with their units. The rows are those after
        `attrs["after_offset"]` and up to `attrs["offset"]`; load on from there with `start=attrs["offset"] + 1`.
        Where `end` or `limit` ends them, `attrs["end"]` is the instant after the last one's record time.

    Raises:
        InputError: an argument is not valid, the participant has not reached `start`, no participant serves the route,
            or there are more than 100 pages and none of `start`, `end` and `limit` is given.
        NotAuthorizedError: the token's user may not read as these parties, or as any party.
        PagingError: the pages contradict each other, so that rows would be lost or doubled.
        PartialResultError: the participant has pruned the first updates asked for, or while they were read.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     transactions, events = lf.load_ledger_history(net, None)
        >>> len(transactions), transactions.attrs["offset"]
        (75, 75)
    """
    named, views = parties_and_views(parties, interfaces)
    first, stop = offset(load.net, start, "start", least=1), offset(load.net, end, "end", least=1)
    if first is not None and stop is not None and first > stop:
        raise InputError(f"start={first} is after end={stop}: give a range from old to new")
    size = fits(page_size, Positive32 | None, "page_size")

    most = None if limit is None else whole_number(limit, "limit", least=1)
    shown = whole_format(named, interfaces=views)
    one = OneServer(load.net.ledger, load.origin)
    read = load.whole(one, lambda: _parts(one, shown, first, stop, size, most))
    after, reached = (read[-1].after, read[-1].reached) if read else (0, 0)
    transactions = pa.Table.from_batches([part.transactions for part in read], schema=LEDGER_TRANSACTIONS.schema)
    events = pa.Table.from_batches([part.events for part in read], schema=LEDGER_EVENTS.schema)
    at_limit = len(transactions) == most
    if not at_limit and reached < (stop or 0) - 1:
        load.origin.complete = False
    ends: dict[str, Any] = {"limit": most} if at_limit else {}
    last: int | None = pc.max(transactions["record_time"].cast(pa.int64())).as_py()
    if (at_limit or (stop is not None and load.origin.complete)) and last is not None:
        ends["end"] = format_timestamp(last + 1)
    offsets = f"offsets {after + 1:,} to {reached:,}" if reached > after else f"no offset after {after:,}"
    frames = [
        of_one.frame(rows, part=offsets, after_offset=after, offset=reached, **ends)
        for of_one, rows in ((load, transactions), (load.of_table(LEDGER_EVENTS), events))
    ]
    return LedgerHistory(*frames)


_placed_at: Final = reads(int, "offset")


class _Part(NamedTuple):
    """The rows of a page, and between which offsets everything is read with it.

    Attributes:
        after: the rows so far are those after this offset …
        reached: … up to this one.
    """

    after: int
    reached: int
    transactions: pa.RecordBatch
    events: pa.RecordBatch


def _parts(
    one: OneServer[Ledger],
    shown: TransactionFormat,
    start: int | None,
    end: int | None,
    page_size: int | None,
    limit: int | None,
) -> Iterator[_Part]:
    """Read from the first requested offset to the last existing one; the first part has no rows.

    Raises:
        InputError: the participant has not reached the first one, as after it was set up again.
        PagingError: updates between two pages would be lost, or come twice.
        PartialResultError: the participant has pruned the first updates asked for.
    """
    newest = newest_offset(one)
    if start is not None and start > newest + 1:
        raise InputError(f"start={start} is after the participant's newest offset {newest}: give {newest + 1} or less")
    last = newest if end is None else min(newest, end - 1)
    after = reached = 0 if start is None else start - 1
    bounded, nothing = (start, end, limit) != (None, None, None), read_ledger_items([], _ENDPOINT)
    rows, first, begin = 0, True, -1

    def ask(token: str | None) -> LedgerUpdatesPage:
        return one.calls.updates_page(
            transaction_format=shown, begin_exclusive=begin, end_inclusive=last, page_size=page_size, page_token=token
        )

    yield _Part(after, reached, *nothing)
    # A last page that ends before the range leaves the rest to be requested again.
    while begin < reached < last:
        begin = reached
        pages = ledger_pages(
            ask,
            _ENDPOINT,
            items=lambda page: len(page.committed),
            too_long=None if bounded else f"give start=, end= or limit=; offsets go up to {last:,}",
            pruned=partial(pruned_up_to, _ENDPOINT, "start", start),
        )
        for page in pages:
            low = page.lowest_offset_exclusive
            if first and start is None:
                # Participants that have pruned their history begin later.
                after = reached = low
            elif first and low > reached:
                raise pruned_up_to(_ENDPOINT, "start", start, low)
            _check(page, reached, last)
            updates = page.committed[: None if limit is None else limit - rows]
            rows, first = rows + len(updates), False
            reached = _offset_of(updates[-1], 0) if rows == limit else page.highest_offset_inclusive
            yield _Part(after, reached, *(read_ledger_items(updates, _ENDPOINT) if updates else nothing))
            if rows == limit:
                return
    yield _Part(after, max(reached, last), *nothing)


def _check(page: LedgerUpdatesPage, reached: int, last: int) -> None:
    """Refuse a page that does not continue the one before.

    Raises:
        PagingError: updates between the two would be lost, or come twice.
    """
    low, high = page.lowest_offset_exclusive, page.highest_offset_inclusive
    if low > reached:
        raise PagingError(
            f"{_ENDPOINT}: the page begins after offset {low}, and the one before ended at {reached}:"
            " the updates between them are missing"
        )
    if high < reached or high > last:
        raise PagingError(f"{_ENDPOINT}: the page ends at offset {high}, which is not between {reached} and {last}")
    for position, raw in enumerate(page.committed):
        place = _offset_of(raw, position)
        if not reached < place <= high:
            raise PagingError(
                f"{_ENDPOINT}: item {position} has offset {place}, which is not after {reached} and up to {high}:"
                " rows would come twice or be lost"
            )
        reached = place


def _offset_of(raw: bytes, position: int) -> int:
    with reading(_ENDPOINT, table=LEDGER_TRANSACTIONS.name, column="offset", item=f"item {position}"):
        return _placed_at(raw)
