"""Scan's snapshots of the active contracts, and `call` for any read: what scan has beside the contract's six calls.

`Scan` takes these calls in; the shapes are those of scan's published interface file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final, Self
from urllib.parse import quote

from msgspec import UNSET, Meta, Raw, Struct

from ledgerframes.errors import InputError, NotFoundError
from ledgerframes.interfaces.answers import reads
from ledgerframes.interfaces.calls import Calls
from ledgerframes.interfaces.rules import (
    Count64,
    PartyId,
    Positive32,
    Text,
    each,
    fits,
    given,
    shown,
    unless_none,
    writable,
)
from ledgerframes.interfaces.validator import HoldingsSummaries, RecordTimeMatch
from ledgerframes.timestamps import format_instant, to_micros
from ledgerframes.transport.request import Endpoint

SNAPSHOT_TIME: Final = Endpoint(interface="scan", method="GET", path="/v0/state/acs/snapshot-timestamp")
ACTIVE_CONTRACTS: Final = Endpoint(interface="scan", method="POST", path="/v1/state/acs")
ACTIVE_CONTRACTS_OLD: Final = Endpoint(interface="scan", method="POST", path="/v0/state/acs")
COINS: Final = Endpoint(interface="scan", method="POST", path="/v1/holdings/state")
COINS_OLD: Final = Endpoint(interface="scan", method="POST", path="/v0/holdings/state")

HOLDINGS_SUMMARY: Final = Endpoint(
    interface="scan",
    method="POST",
    path="/v0/holdings/summary",
    deprecated="deprecated since 0.6.3; POST /v1/holdings/summary replaces it, without fees",
)
HOLDINGS_SUMMARY_V1: Final = Endpoint(interface="scan", method="POST", path="/v1/holdings/summary")

When = str | date | datetime

_Match = Annotated[RecordTimeMatch, Meta(description="'exact' or 'at_or_before'")]
_TEMPLATE: Final = re.compile(r"[^:#\s]+:[^:\s]+:[^:\s]+")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class SnapshotTime(Struct, frozen=True):
    """The answer of `snapshot_time`: the snapshot's record time."""

    record_time: str


class SnapshotPage(Struct, frozen=True):
    """A page of a snapshot.

    Attributes:
        record_time: the snapshot's.
        migration_id: the snapshot's.
        created_events: a contract each, as raw JSON: newer scans leave out event type and event id, and name the
            update.
        next_page_token: valid at the server that gave it only; None after the last page.
    """

    record_time: str
    migration_id: int
    created_events: list[Raw]
    next_page_token: int | str | None = None


class SnapshotCalls(Calls):
    """Calls of scan for snapshots of the active contracts. One method, one request."""

    def on(self, server: str) -> Self:
        """The same interface at one of its servers, which alone is asked: page tokens mean nothing to the others.

        Args:
            server: one of `servers`.
        """
        return self._sending_by(_Pinned(self._sender, server))

    def call(self, method: str, path: str, *, json: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """Send one read to any route of scan, with the retries, limits and masking of every other call.

        A read may be sent several times, so do not use this for a route that changes something.

        Args:
            method: `"GET"` or `"POST"`.
            path: the path below the scan's base URL, such as `"/v0/dso"`; what a path cannot hold as it is, is
                percent-encoded, and `%2F` stays as it is.
            json: a value to be sent as JSON; POST only.
            params: the query; None leaves a name out, a list repeats it.

        Returns:
            The parsed JSON; numbers with a fraction are `Decimal`.

        Raises:
            InputError: an argument breaks a rule; nothing was sent.
            RequestError: the scan gave no answer.
            DecodeError: the answer is not JSON.

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     answer = net.scan.call("GET", "/v0/admin/validator/licenses", params={"limit": 1})
            >>> len(answer["validator_licenses"])
            1
        """
        endpoint = Endpoint(interface="scan", method=_method(method, json), path=_path(path))
        body = UNSET
        if json is not None:
            writable(json, "json")
            body = json
        request = endpoint.request(query=_query(params), json=body)
        return self._sender.send(request, read=reads(Any)).value

    def snapshot_time(self, *, before: When, migration_id: int) -> SnapshotTime | None:
        """Read the time of the newest snapshot before a time (GET /v0/state/acs/snapshot-timestamp).

        Args:
            before: in UTC; some releases count a snapshot at that very instant too.
            migration_id: the snapshot's.

        Returns:
            None where there is no such snapshot.

        Raises:
            InputError: an argument breaks a rule; nothing was sent.
            NotFoundError: the scan does not know the path.
        """
        query = {
            "before": format_instant(to_micros(before, "before")),
            "migration_id": fits(migration_id, Count64, "migration_id"),
        }
        try:
            return self._sender.send(SNAPSHOT_TIME.request(query=query), read=reads(SnapshotTime)).value
        except NotFoundError as error:
            if error.unknown_route:
                raise
            return None

    def active_contracts(
        self,
        *,
        record_time: When,
        migration_id: int,
        templates: Iterable[str] | None = None,
        parties: Iterable[str] | None = None,
        after: int | str | None = None,
        page_size: int = 1000,
    ) -> SnapshotPage:
        """Read one page of the contracts active at a snapshot (POST /v1/state/acs; older scans: /v0/state/acs).

        Args:
            record_time: the snapshot's own time, as `snapshot_time` gives it.
            migration_id: the snapshot's.
            templates: only contracts of these, each as `package-name:Module:Entity`.
            parties: only contracts that one of these signs or observes.
            after: the `next_page_token` of the page before, from the same server.
            page_size: the most contracts to return; scans allow 1,000 by default.

        Raises:
            InputError: an argument breaks a rule; nothing was sent.
            NotFoundError: there is no such snapshot, or the scan knows neither path.
        """
        body = given(
            **_snapshot(record_time, migration_id, after, page_size),
            templates=None if templates is None else template_names(templates),
            party_ids=None if parties is None else each(parties, "parties", kind=PartyId, least=1),
        )
        requests = [endpoint.request(json=body) for endpoint in (ACTIVE_CONTRACTS, ACTIVE_CONTRACTS_OLD)]
        return self._sender.send(*requests, read=reads(SnapshotPage)).value

    def coins(
        self,
        *,
        record_time: When,
        migration_id: int,
        owners: Iterable[str],
        after: int | str | None = None,
        page_size: int = 1000,
    ) -> SnapshotPage:
        """Read one page of the coins of some parties at a snapshot (POST /v1/holdings/state; older scans: /v0/…).

        Args:
            record_time: the snapshot's own time, as `snapshot_time` gives it.
            migration_id: the snapshot's.
            owners: the owners' party ids.
            after: the `next_page_token` of the page before, from the same server.
            page_size: the most coins to return.

        Raises:
            InputError: an argument breaks a rule; nothing was sent.
            NotFoundError: there is no such snapshot, or the scan knows neither path.
        """
        body = given(
            **_snapshot(record_time, migration_id, after, page_size),
            owner_party_ids=each(owners, "owners", kind=PartyId, least=1),
        )
        requests = [endpoint.request(json=body) for endpoint in (COINS, COINS_OLD)]
        return self._sender.send(*requests, read=reads(SnapshotPage)).value

    def holdings_summary(
        self,
        *,
        record_time: When,
        migration_id: int,
        owner_party_ids: Iterable[str],
        record_time_match: RecordTimeMatch = "exact",
        as_of_round: int | None = None,
    ) -> HoldingsSummaries:
        """Read what parties held at a snapshot (POST /v0/holdings/summary; where it is gone: /v1/holdings/summary).

        The same as the validator's call of this name, without a token. The newer route has no fees, no round and no
        available amount.

        Args:
            record_time: instant of the snapshot, in UTC.
            migration_id: of the snapshot.
            owner_party_ids: at least one party.
            record_time_match: `exact` takes a snapshot's instant, `at_or_before` any, for the last snapshot up to it.
            as_of_round: the round to compute fees for; None is the earliest open mining round.

        Raises:
            InputError: an argument breaks a rule; nothing was sent.
            StatusError: there is no such snapshot (404), or the parties hold too much for one answer (400).
        """
        match: str = fits(record_time_match, _Match, "record_time_match")
        asked = given(
            migration_id=fits(migration_id, Count64, "migration_id"),
            record_time=format_instant(to_micros(record_time, "record_time")),
            record_time_match=None if match == "exact" else match,
            owner_party_ids=each(owner_party_ids, "owner_party_ids", kind=PartyId, least=1),
        )
        at_round = given(as_of_round=unless_none(as_of_round, Count64, "as_of_round"))
        requests = (HOLDINGS_SUMMARY.request(json=asked | at_round), HOLDINGS_SUMMARY_V1.request(json=asked))
        return self._sender.send(*requests, read=reads(HoldingsSummaries)).value


class _Pinned:
    """A way to send to one server alone."""

    def __init__(self, sender: Any, server: str) -> None:
        self._sender = sender
        self._server = server

    def send(self, *requests: Any, **options: Any) -> Any:
        return self._sender.send(*requests, **{**options, "server": self._server})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sender, name)


def template_names(templates: Iterable[str]) -> tuple[str, ...]:
    """A caller's templates as scan's filters take them.

    Raises:
        InputError: one is not `package-name:Module:Entity`.
    """
    found = each(templates, "templates", kind=Text, least=1)
    for position, name in enumerate(found):
        if not _TEMPLATE.fullmatch(name) or re.fullmatch(r"[0-9a-f]{64}", name.partition(":")[0]):
            raise InputError(
                f"templates[{position}]={shown(name)} is not valid: give package-name:Module:Entity, such as"
                " 'splice-amulet:Splice.Amulet:Amulet'; the columns package_name and template_name hold the two parts"
            )
    return found


def _snapshot(record_time: When, migration_id: int, after: int | str | None, page_size: int) -> dict[str, Any]:
    if after is not None and (isinstance(after, bool) or not isinstance(after, int | str)):
        raise InputError(f"after={shown(after)} is not valid: give the next_page_token of the page before")
    return {
        "migration_id": fits(migration_id, Count64, "migration_id"),
        "record_time": format_instant(to_micros(record_time, "record_time")),
        "page_size": fits(page_size, Positive32, "page_size"),
        "after": after,
    }


def _method(method: Any, json: Any) -> str:
    if not isinstance(method, str) or method not in {"GET", "POST"}:
        raise InputError(f"method={shown(method)} is not valid: give 'GET' or 'POST'; this is for reads alone")
    if method == "GET" and json is not None:
        raise InputError("json= has no place in a GET; give params=, or method='POST'")
    return str(method)


def _path(path: Any) -> str:
    """The path, percent-encoded; it cannot lead out of the scan's base URL."""
    parts = path.split("/") if isinstance(path, str) else []
    if len(parts) < 2 or parts[0] or any(part in {"", ".", ".."} for part in parts[1:]):
        raise InputError(f"path={shown(path)} is not valid: give the path below the base URL, such as '/v0/dso'")
    if "?" in path or "#" in path:
        raise InputError(f"path={shown(path)} is not valid: give the query as params=, and write # as %23")
    if _ESCAPE.search(path):
        raise InputError(f"path={shown(path)} is not valid: a % is followed by two hexadecimal digits; write it as %25")
    try:
        encoded = quote(path, safe="/%")
    except UnicodeEncodeError as error:
        raise InputError(f"path={shown(path)} is not Unicode text: {error}") from error
    if re.search(r"/(\.|%2e)(\.|%2e)?(/|$)", encoded, re.IGNORECASE):
        raise InputError(f"path={shown(path)} is not valid: leave out the steps . and ..")
    return encoded


def _query(params: Any) -> dict[str, str | int | bool | Sequence[str] | None]:
    if params is None:
        return {}
    if not isinstance(params, Mapping) or not all(isinstance(name, str) and name for name in params):
        raise InputError(f"params={shown(params)} is not valid: give a dict from names to values")
    return {name: _value(name, value) for name, value in params.items()}


def _value(name: str, value: Any) -> str | int | bool | Sequence[str] | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise InputError(
        f"params[{name!r}]={shown(value)} is not valid: give text, a number, True, False or a list of texts"
    )
