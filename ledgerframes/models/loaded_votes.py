"""`load_votes`: the votes on governance as a scan has them, by the model that computes them from events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw, Struct

from ledgerframes.arguments import names, whole_number
from ledgerframes.errors import PartialResultError
from ledgerframes.frames import attrs_of
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.answers import reading
from ledgerframes.interfaces.rules import thousands
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad, items_of
from ledgerframes.models.governance import votes
from ledgerframes.tables.governance import VOTES
from ledgerframes.tables.history import EVENTS
from ledgerframes.timestamps import parse_timestamp

_LOADED: Final = replace(VOTES, endpoints=(str(routes.VOTE_REQUESTS), str(routes.VOTE_RESULTS)))
_RESULTS: Final = "dso_rules_vote_results"
_NEXT: Final = "next_page_token"
#: Stands for the id of a request that a result does not state.
_UNKNOWN: Final = "result "


@loader(
    _LOADED,
    needs=(routes.VOTE_REQUESTS, routes.VOTE_RESULTS),
    instead="compute them from a history: lf.votes(lf.load_events(net))",
)
def load_votes(load: TableLoad, *, requests: Iterable[str] | None = None, page_size: int = 1_000) -> Any:
    """Load the votes on governance, open and closed, as a scan has them.

    The open requests are loaded first, then the results, so a vote that is closed meanwhile is included, once.

    Endpoints: GET /v0/admin/sv/voterequests, or POST /v0/voterequest; POST /v0/admin/sv/voteresults.

    Args:
        net: the network; its scan is asked.
        requests: only these, as `request` has them; the open ones are asked for by 1,000 ids at most.
        page_size: how many results to ask for at once.

    Returns:
        One row per request, with the columns of `lf.describe("votes")`, as `lf.votes` computes them from a history. A
        scan does not say when a request was opened once it was voted on, nor whose app right is to change: `opened_at`
        and `party` are null then, and `request` is null if it was closed with the requester's vote alone.

    Raises:
        PartialResultError: the scan's release has no further pages of results, and the first is full.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net:
        ...     votes = lf.load_votes(net)
        >>> votes.outcome.isin(["accepted", "rejected", "expired", "open"]).all().item()
        True
    """
    ids = None if requests is None else list(names(requests, "requests"))
    size, scan = whole_number(page_size, "page_size", least=1), load.net.scan.raw
    made: list[Raw] = []
    with load.asking():
        if ids is None:
            made = load.items("dso_rules_vote_requests", scan.vote_requests)
        else:
            for part in thousands(ids):
                made += load.items("vote_requests", scan.vote_requests_by_id, part)
    results = load if ids is None else replace(load, limit=None)
    closed = results.paged(
        load.net.scan, "vote_results", items=_RESULTS, following=_NEXT, argument="page_token", number=True, limit=size
    )
    if len(closed) == size and len(closed) != results.limit:
        with load.asking():
            _check_paged(load, size)
    with reading(routes.VOTE_REQUESTS, table=VOTES.name):
        rows = [_made(item) for item in made]
    with reading(routes.VOTE_RESULTS, table=VOTES.name):
        rows += [_closed(item, number) for number, item in enumerate(closed)]
    plain = pa.schema([pa.field(field.name, field.type) for field in EVENTS.schema])
    found = votes(pa.Table.from_pylist(rows, plain), as_="arrow")
    known = pc.invert(pc.starts_with(found["request"], _UNKNOWN))
    stated = pc.if_else(known, found["request"], pa.scalar(None, pa.string()))
    table = pa.table(
        [stated if name == "request" else found[name] for name in VOTES.names], schema=VOTES.schema.remove_metadata()
    )
    if ids is not None:
        table = table.filter(pc.is_in(table["request"], pa.array(ids, pa.string())))
    return load.frame(table, not_understood=attrs_of(found)["not_understood"])


def _check_paged(load: TableLoad, size: int) -> None:
    """Refuse a full page that came without a token from a scan that has none, as those of older releases.

    Raises:
        PartialResultError: there may be more results than one page has.
    """
    other = size - 1 or 2
    page = load.origin.body(load.net.scan.raw.vote_results, limit=other)
    if bytes(page.get(_NEXT, b"null")) == b"null" and len(items_of(page, _RESULTS, str(routes.VOTE_RESULTS))) >= other:
        raise PartialResultError(
            f"{routes.VOTE_RESULTS}: the scan sent {size} results of votes, as many as were asked for, and its release"
            " has no further pages, so there may be more. Give a larger page_size=, name another scan, compute them by"
            " lf.votes(lf.load_events(net)), or pass allow_partial=True to get the latest ones"
        )


class _Made(Struct):
    contract_id: str
    template_id: str
    created_at: str
    payload: Raw


class _Closed(Struct):
    class Request(Struct, rename={"tracking": "trackingCid"}):
        tracking: str | None = None

    request: Request


_contract: Final = msgspec.json.Decoder(_Made)
_result: Final = msgspec.json.Decoder(_Closed)


def _made(item: Raw) -> dict[str, Any]:
    """The create of an open request."""
    contract = _contract.decode(item)
    return _event(0, contract.contract_id) | {
        "event_type": "created_event",
        "contract_id": contract.contract_id,
        "template_name": contract.template_id.partition(":")[2],
        "created_at": parse_timestamp(contract.created_at)[0],
        "payload": bytes(contract.payload).decode(),
    }


def _closed(item: Raw, number: int) -> dict[str, Any]:
    """The exercise that closed a request."""
    request = _result.decode(item).request.tracking or f"{_UNKNOWN}{number}"
    return _event(1, f"{_UNKNOWN}{number}") | {
        "event_type": "exercised_event",
        "template_name": "Splice.DsoRules:DsoRules",
        "choice": "DsoRules_CloseVoteRequest",
        "payload": msgspec.json.encode({"requestCid": request}).decode(),
        "exercise_result": bytes(item).decode(),
    }


def _event(place: int, name: str) -> dict[str, Any]:
    """The place of an event: closes come after creates."""
    return {"migration_id": 0, "record_time": place, "update_id": name, "event_id": name, "node_index": 0, "depth": 0}
