"""The scan interface: the contract's six calls (contract: Endpoints, Scan interface), and the event history's.

Calls for the current state can be sent through a validator if there is no scan; `Network` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from ledgerframes.errors import ConfigurationError
from ledgerframes.interfaces import scan_now
from ledgerframes.interfaces.answers import (
    Contract,
    ContractWithState,
    ListPage,
    Update,
    UpdateItem,
    read_update,
    reads,
)
from ledgerframes.interfaces.calls import Call, sends
from ledgerframes.interfaces.history import read_pages
from ledgerframes.interfaces.history_pages import EVENTS, UPDATES, ScanPages, ValueEncoding, cursor_of
from ledgerframes.interfaces.history_pages import value_encoding as encoding_of
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, HistoryPage, PagedHistory
from ledgerframes.interfaces.rules import Positive32, fits, without_none
from ledgerframes.interfaces.scan_now import CurrentCalls
from ledgerframes.interfaces.scan_objects import ObjectCalls
from ledgerframes.interfaces.scan_snapshots import SnapshotCalls
from ledgerframes.paging.cursor import Bound, wanted_window
from ledgerframes.paging.history import HistoryReader
from ledgerframes.transport import Endpoint, Request

UPDATE_BY_ID: Final = Endpoint(
    "scan",
    "GET",
    "/v1/updates/{update_id}",
    deprecated="deprecated since scan 0.5.10; newer scans have GET /v2/updates/{update_id}, which is used where it is",
    not_found_is_local=True,  # it may have pruned the update
)
# Served from 0.5.10 on; newer releases have dropped v1.
UPDATE_BY_ID_V2: Final = Endpoint("scan", "GET", "/v2/updates/{update_id}", not_found_is_local=True)
UPDATE_BY_HASH: Final = Endpoint("scan", "GET", "/v2/updates/hash/{hash}", not_found_is_local=True)
ANS_RULES: Final = Endpoint("scan", "POST", "/v0/ans-rules")
LICENSES: Final = Endpoint("scan", "GET", "/v0/admin/validator/licenses")
EARLIEST_ROUND: Final = Endpoint("scan", "GET", "/v0/internal/reward-accounting-process/rounds/earliest-available")
# Its path from 0.6.0 until it moved in 0.6.5.
EARLIEST_ROUND_OLD: Final = Endpoint("scan", "GET", "/v0/reward-accounting-process/rounds/earliest-available")
#: Of a validator's routes for scan.
_PREFIX: Final = "/v0/scan-proxy"
#: The calls of scan that the official scan-proxy file has.
_SERVED: Final = frozenset(
    {
        scan_now.ROUNDS, scan_now.NAMES, scan_now.NAME_BY_NAME, scan_now.FEATURED_APP,
        scan_now.DSO, ANS_RULES,
    }
)  # fmt: skip
_GIVES: Final = (
    "a validator gives names, name rules, open and issuing rounds, super validators, a provider's featured app right"
    " (net.scan.featured_app) and holdings summaries, and no history, snapshot, license, traffic or list of scans: give"
    " scan_url= for those, or ledger_url= for a participant's own history (lf.load_ledger_history)"
)


class LicensesPage(ListPage, frozen=True):
    """A page of validator licenses; `next_page_token` is opaque, None after the last page."""

    validator_licenses: list[Contract]
    next_page_token: int | str | None = None


class Scan(SnapshotCalls, CurrentCalls, ObjectCalls):
    """The scan interface, a read-only view of the ledger's history: the contract's six calls and their neighbours.

    One method, one request.
    """

    interface = "scan"

    @sends(UPDATE_BY_ID)
    def update_by_id(self, update_id: str, *, value_encoding: ValueEncoding | None = None) -> Call[Update[UpdateItem]]:
        """Read one update by its id (contract: GET /v1/updates/{update_id}).

        Args:
            update_id: the update's id.
            value_encoding: `compact_json`, the server's default, or `protobuf_json`, verbose and type-carrying.

        Raises:
            NotFoundError: no scan knows the update; one that has pruned it does not.
        """
        query = encoding_of(value_encoding)
        path = {"update_id": update_id}
        older, newer = (endpoint.request(path=path, query=query) for endpoint in (UPDATE_BY_ID, UPDATE_BY_ID_V2))
        # v1 first: unlike its successor it is in the contract, and a server without it answers 404 at once.
        return Call(older, read_update, alternatives=(newer,))

    @sends(UPDATES, like=update_by_id)
    def updates(
        self,
        *,
        after: Bound | None = None,
        page_size: int = 1000,
        value_encoding: ValueEncoding | None = None,
    ) -> Call[HistoryPage]:
        """Read one page of the history, ascending (contract: POST /v2/updates).

        Use `iter_updates` or `load_history` for more than a page: updates that share a record time can be cut apart by
        a page's end, and "after" then skips the rest of them.

        Args:
            after: `(migration id, time)`; items strictly after it are returned. None is ledger begin.
            page_size: the most items to return, 1 to 1000; an operator may allow fewer.
        """
        size, encoding = fits(page_size, Positive32, "page_size"), encoding_of(value_encoding)
        return Call(self.update_pages.page_request(cursor_of(after), size, **encoding), HistoryPage.read)

    @sends(UPDATE_BY_HASH, like=update_by_id)
    def update_by_hash(self, hash: str, *, value_encoding: ValueEncoding | None = None) -> Call[Update[UpdateItem]]:  # noqa: A002
        """Read the update of a prepared transaction's hash (contract: GET /v2/updates/hash/{hash}).

        A scan answers 404 for updates committed before it began indexing hashes, so every configured scan is asked.

        Args:
            hash: the hash, as in the column external_transaction_hash of updates.

        Raises:
            NotFoundError: no scan has the hash indexed.
        """
        request = UPDATE_BY_HASH.request(path={"hash": hash}, query=encoding_of(value_encoding))
        return Call(request, read_update)

    @sends(ANS_RULES)
    def ans_rules(
        self, *, cached_contract_id: str | None = None, cached_domain_id: str | None = None
    ) -> Call[ContractWithState]:
        """Read the name-service rules (contract: POST /v0/ans-rules).

        Args:
            cached_contract_id: the rules contract the caller already has.
            cached_domain_id: the synchronizer it was on; if both still hold, the contract is left out of the answer.
        """
        body = without_none(
            cached_ans_rules_contract_id=fits(cached_contract_id, str | None, "cached_contract_id"),
            cached_ans_rules_domain_id=fits(cached_domain_id, str | None, "cached_domain_id"),
        )
        return Call(ANS_RULES.request(json=body), reads(ContractWithState, "ans_rules_update"))

    @sends(LICENSES)
    def validator_licenses(self, *, after: int | str | None = None, limit: int = 1000) -> Call[LicensesPage]:
        """Read one page of validator licenses, newest first (contract: GET /v0/admin/validator/licenses).

        Use `load_licenses` for all of them.

        Args:
            after: the `next_page_token` of the page before.
            limit: the most licenses to return.
        """
        query = {"after": fits(after, int | str | None, "after"), "limit": fits(limit, Positive32, "limit")}
        return Call(LICENSES.request(query=query), reads(LicensesPage))

    @sends(EARLIEST_ROUND)
    def earliest_available_round(self) -> Call[int]:
        """Read the earliest round with complete reward-accounting records (contract: earliest-available).

        Raises:
            NotFoundError: the scan has no such round yet.
        """
        older = EARLIEST_ROUND_OLD.request()
        return Call(EARLIEST_ROUND.request(), reads(int, "earliest_round"), alternatives=(older,))

    @sends(EVENTS, neighbour=True, like=updates)
    def events(
        self, *, after: Bound | None = None, page_size: int = 1000, value_encoding: ValueEncoding | None = None
    ) -> Call[HistoryPage]:
        """Read one page of the event history, ascending (POST /v0/events).

        Use `load_verdicts` for more than a page: items that share a record time can be cut apart by a page's end, and
        "after" then skips the rest of them.
        """
        size, encoding = fits(page_size, Positive32, "page_size"), encoding_of(value_encoding)
        request = self.pages(EVENT_HISTORY).page_request(cursor_of(after), size, **encoding)
        return Call(request, lambda body: HistoryPage.read(body, EVENT_HISTORY))

    @property
    def update_pages(self) -> ScanPages:
        """The update history as a source of pages."""
        return self.pages(UPDATE_HISTORY)

    def pages(self, history: PagedHistory) -> ScanPages:
        """One of the two histories as a source of pages."""
        return ScanPages(history, self._sender)

    def iter_updates(
        self, *, start: Bound | None = None, end: Bound | None = None, page_size: int = 1000
    ) -> Iterator[UpdateItem]:
        """Iterate over the updates of a range, none lost and none twice.

        Args:
            start: inclusive; a time, or a pair (migration id, time).
            end: exclusive, in the same forms as `start`.
            page_size: how many items a request asks for.
        """
        for page in read_pages(self.update_pages, HistoryReader(wanted_window(start, end), page_size=page_size)):
            for row in page.rows:
                yield page.page.items[row]


def passed_on(request: Request, read: Callable[[bytes], Any]) -> tuple[Request, Callable[[bytes], Any]]:
    """A request to scan as one of the validator's own route, and what reads its answer; refused before it is sent.

    Raises:
        ConfigurationError: there is no such route.
    """
    endpoint = request.endpoint
    if endpoint not in _SERVED:
        raise ConfigurationError(f"no scan is known to ask {endpoint} of; {_GIVES}")
    path = _PREFIX + request.path.removeprefix("/v0")
    method = "GET" if endpoint == scan_now.ROUNDS else endpoint.method
    own = Endpoint("validator", method, _PREFIX + endpoint.path.removeprefix("/v0"))
    if endpoint == scan_now.ROUNDS:  # the proxy returns all rounds, so it takes no list of those that are known
        return Request(own, path, request.query), lambda body: read(_by_contract(body))
    return replace(request, endpoint=own, path=path), read


_lists: Final = reads(dict[str, list[msgspec.Raw]])
_name_of: Final = reads(str, "contract", "contract_id")


def _by_contract(body: bytes) -> bytes:
    """Rounds in the form of scan: by contract id, where the proxy lists them."""
    return msgspec.json.encode({name: {_name_of(item): item for item in items} for name, items in _lists(body).items()})
