"""The scan interface with the contract's six calls (contract: Endpoints, Scan interface)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from ledgerframes.arguments import path as path_argument
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import InputError
from ledgerframes.interfaces import scan_objects
from ledgerframes.interfaces.answers import Contract, ContractWithState, Update, UpdateItem, reads
from ledgerframes.interfaces.calls import Call, declared_call, sends
from ledgerframes.interfaces.history import read_pages
from ledgerframes.interfaces.history_pages import UPDATES, HistoryPage, ScanPages, ValueEncoding, cursor_of
from ledgerframes.interfaces.history_pages import value_encoding as encoding_of
from ledgerframes.interfaces.object_files import download_to
from ledgerframes.interfaces.rules import Positive32, fits
from ledgerframes.interfaces.scan_events import EventCalls
from ledgerframes.interfaces.scan_now import CurrentCalls
from ledgerframes.interfaces.scan_snapshots import SnapshotCalls, When
from ledgerframes.paging.cursor import Bound, window
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.tokens import TokenChecks, follow_tokens
from ledgerframes.transport import Answer
from ledgerframes.transport.request import Endpoint

UPDATE_BY_ID: Final = Endpoint(
    "scan",
    "GET",
    "/v1/updates/{update_id}",
    deprecated="deprecated since scan 0.5.10; newer scans have GET /v2/updates/{update_id}, which is used where it is",
)
# Served from 0.5.10 on; newer releases have dropped v1.
UPDATE_BY_ID_V2: Final = Endpoint("scan", "GET", "/v2/updates/{update_id}")
UPDATE_BY_HASH: Final = Endpoint("scan", "GET", "/v2/updates/hash/{hash}", not_found_is_local=True)
ANS_RULES: Final = Endpoint("scan", "POST", "/v0/ans-rules")
LICENSES: Final = Endpoint("scan", "GET", "/v0/admin/validator/licenses")
EARLIEST_ROUND: Final = Endpoint("scan", "GET", "/v0/internal/reward-accounting-process/rounds/earliest-available")
# Its path from 0.6.0 until it moved in 0.6.5.
EARLIEST_ROUND_OLD: Final = Endpoint("scan", "GET", "/v0/reward-accounting-process/rounds/earliest-available")


class LicensesPage(Struct, frozen=True):
    """A page of validator licenses; `next_page_token` is opaque, None after the last page."""

    validator_licenses: list[Contract]
    next_page_token: int | str | None = None


class Scan(SnapshotCalls, CurrentCalls, EventCalls, scan_objects.ObjectCalls):
    """The scan interface, a read-only view of the ledger's history: the contract's six calls and their neighbours.

    One method, one request.
    """

    @sends(UPDATE_BY_ID)
    def update_by_id(self, update_id: str, *, value_encoding: ValueEncoding | None = None) -> Call[Update]:
        """Read one update by its id (contract: GET /v1/updates/{update_id}).

        Args:
            update_id: the update's id.
            value_encoding: `compact_json`, the server's default, or `protobuf_json`, verbose and type-carrying.

        Raises:
            NotFoundError: the scan does not know the update.
        """
        query = encoding_of(value_encoding)
        path = {"update_id": update_id}
        older, newer = (endpoint.request(path=path, query=query) for endpoint in (UPDATE_BY_ID, UPDATE_BY_ID_V2))
        # v1 first: unlike its successor it is in the contract, and a server without it answers 404 at once.
        return Call(older, Update.read, alternatives=(newer,))

    @sends(UPDATES)
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
            value_encoding: see `update_by_id`.
        """
        size, encoding = fits(page_size, Positive32, "page_size"), encoding_of(value_encoding)
        return Call(self.update_pages.page_request(cursor_of(after), size, **encoding), HistoryPage.read)

    @sends(UPDATE_BY_HASH)
    def update_by_hash(self, hash: str, *, value_encoding: ValueEncoding | None = None) -> Call[Update]:  # noqa: A002
        """Read the update of a prepared transaction's hash (contract: GET /v2/updates/hash/{hash}).

        A scan answers 404 for updates committed before it began indexing hashes, so every configured scan is asked.

        Raises:
            NotFoundError: no scan has the hash indexed.
        """
        request = UPDATE_BY_HASH.request(path={"hash": hash}, query=encoding_of(value_encoding))
        return Call(request, Update.read)

    @sends(ANS_RULES)
    def ans_rules(
        self, *, cached_contract_id: str | None = None, cached_domain_id: str | None = None
    ) -> Call[ContractWithState]:
        """Read the name-service rules (contract: POST /v0/ans-rules).

        Args:
            cached_contract_id: the rules contract the caller already has.
            cached_domain_id: the synchronizer it was on; if both still hold, the contract is left out of the answer.
        """
        body = {"cached_ans_rules_contract_id": cached_contract_id, "cached_ans_rules_domain_id": cached_domain_id}
        request = ANS_RULES.request(json={name: value for name, value in body.items() if value is not None})
        return Call(request, reads(ContractWithState, "ans_rules_update"))

    @sends(LICENSES)
    def validator_licenses(self, *, after: int | str | None = None, limit: int = 1000) -> Call[LicensesPage]:
        """Read one page of validator licenses, newest first (contract: GET /v0/admin/validator/licenses).

        Args:
            after: the `next_page_token` of the page before.
            limit: the most licenses to return.
        """
        query = {"after": after, "limit": fits(limit, Positive32, "limit")}
        return Call(LICENSES.request(query=query), reads(LicensesPage))

    @sends(EARLIEST_ROUND)
    def earliest_available_round(self) -> Call[int]:
        """Read the earliest round with complete reward-accounting records (contract: earliest-available).

        Raises:
            NotFoundError: the scan has no such round yet.
        """
        older = EARLIEST_ROUND_OLD.request()
        return Call(EARLIEST_ROUND.request(), reads(int, "earliest_round"), alternatives=(older,))

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
        for page in read_pages(self.update_pages, HistoryReader(window(start, end), page_size=page_size)):
            for row in page.rows:
                yield page.page.items[row]

    def iter_validator_licenses(self, *, limit: int = 1000) -> Iterator[Contract]:
        """Iterate over all licenses, following the tokens regardless of the length of pages.

        Raises:
            PagingError: the server repeats a token.
        """
        yield from follow_tokens(
            lambda token: self.validator_licenses(after=token, limit=limit),
            lambda page: (page.validator_licenses, page.next_page_token),
            LICENSES.path,
        )

    def iter_update_objects(self, *, after: When, up_to: When) -> Iterator[scan_objects.ObjectRef]:
        """Iterate over all objects with the updates of a range, as far as the server has written them.

        Args:
            after: record time, exclusive.
            up_to: record time, inclusive.

        Raises:
            PagingError: the server repeats a page of the list.
            StatusError: 501 or 404: the server has no objects.
        """
        for answer in self.object_lists(after=after, up_to=up_to):
            yield from answer.value.object_refs

    def object_lists(self, *, after: When, up_to: When) -> Iterator[Answer[scan_objects.UpdateObjects]]:
        """The pages of the list of `iter_update_objects`, with the server that gave them: all come from one.

        Args:
            after: record time, exclusive.
            up_to: record time, inclusive.

        Raises:
            PagingError: the server repeats a page of the list.
            StatusError: 501 or 404: the server has no objects.
        """
        token: str | None = None
        sender = self._sender
        checks, known = TokenChecks(scan_objects.UPDATE_OBJECTS.path), set[str]()
        while True:
            call = declared_call(self, "update_objects")(after=after, up_to=up_to, page_token=token)
            # Servers write objects of their own, and a token means something to the one that made it.
            answer = sender.send(call.request, read=call.read)
            yield answer
            sender, token = sender.on(answer.server), answer.value.next_page_token
            # A server that has not yet written all of the range returns the same token with an empty page: ask later.
            if token is None or not answer.value.object_refs:
                return
            urls = {ref.url for ref in answer.value.object_refs}
            checks.follow(token, new=not urls <= known)
            known |= urls

    def download_object(self, ref: scan_objects.ObjectRef, to: str | os.PathLike[str]) -> Path:
        """Download an object to a file, in bounded memory, and check its digest (young).

        The limit on answers does not apply. The scan's token goes to the scan itself only. An object that does not
        have its digest is downloaded again, twice at most; the file appears once it is whole.

        Args:
            ref: one of a list of objects.
            to: the file to write; an existing one is replaced.

        Returns:
            The file.

        Raises:
            InputError: an argument breaks a rule, or the object's address may not be fetched from.
            RequestError: it could not be fetched; NotFoundError if it is gone.
            DecodeError: it does not have its digest.
            StoreError: the disk has no room for it, or the file cannot be written.

        Example:
            >>> import tempfile, ledgerframes as lf
            >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
            ...     page = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01")
            ...     file = net.scan.download_object(page.object_refs[0], folder + "/first.zstd")
            ...     file.name
            'first.zstd'
        """
        if not isinstance(ref, scan_objects.ObjectRef):
            raise InputError(f"ref={ref!r} is not valid: give one of net.scan.update_objects(...).object_refs")
        return download_to(self._sender, ref.url, ref.digest, Path(path_argument(to, "to")))
