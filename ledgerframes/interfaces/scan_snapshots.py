"""Scan's calls in addition to the contract's six: snapshots of the active contracts, and `call` for any other read.

`Scan` inherits them; the shapes are those of scan's published interface file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import quote, unquote

from msgspec import UNSET, Meta, Raw, Struct

from ledgerframes.arguments import choice, shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import ListPage, reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.rules import PartyId, Positive32, Text, Whole64, each, fits, listed, without_none, writable
from ledgerframes.interfaces.validator import HOLDINGS_SUMMARY_OF_SCAN, holdings_summary
from ledgerframes.paging.cursor import When
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport import Endpoint

SNAPSHOT_TIME: Final = Endpoint("scan", "GET", "/v0/state/acs/snapshot-timestamp")
ACTIVE_CONTRACTS: Final = Endpoint("scan", "POST", "/v2/state/acs")
ACTIVE_CONTRACTS_V1: Final = Endpoint("scan", "POST", "/v1/state/acs")
ACTIVE_CONTRACTS_V0: Final = Endpoint("scan", "POST", "/v0/state/acs")
COINS: Final = Endpoint("scan", "POST", "/v2/holdings/state")
COINS_V1: Final = Endpoint("scan", "POST", "/v1/holdings/state")
COINS_V0: Final = Endpoint("scan", "POST", "/v0/holdings/state")

#: The version of the route of a snapshot's pages; a page token is only valid there.
Route = Literal["v2", "v1", "v0"]

_TEMPLATE: Final = re.compile(r"[^:#\s]+:[^:\s]+:[^:\s]+")
_ENTITY: Final = re.compile(r"([^:#\s]+):[^:\s]+")
_After = Annotated[int | str | None, Meta(description="the next_page_token of the previous page")]
#: The modules of the network's own templates that a scan shows, by package; an upgrade keeps a package's name.
_MODULES: Final = {
    "splice-amulet": (
        *("Splice.Amulet", "Splice.Amulet.RewardAccountingV2", "Splice.AmuletAllocation", "Splice.AmuletAllocationV2"),
        *("Splice.AmuletRules", "Splice.AmuletTransferInstruction", "Splice.DecentralizedSynchronizer"),
        *("Splice.ExternalPartyAmuletRules", "Splice.GovernanceLock", "Splice.Round", "Splice.ValidatorLicense"),
    ),
    "splice-amulet-name-service": ("Splice.Ans",),
    "splice-dso-governance": (
        *("Splice.DsoBootstrap", "Splice.DsoRules", "Splice.DSO.AmuletPrice", "Splice.DSO.SvState"),
        "Splice.SvOnboarding",
    ),
    "splice-wallet-payments": ("Splice.Wallet.Subscriptions",),
}
_PACKAGES: Final = {module: package for package, modules in _MODULES.items() for module in modules}
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class SnapshotTime(Struct, frozen=True):
    """The answer of `snapshot_time`: the snapshot's record time."""

    record_time: str


class SnapshotPage(ListPage, frozen=True):
    """A page of a snapshot.

    Attributes:
        record_time: the snapshot's time.
        migration_id: the snapshot's migration id.
        created_events: one contract each, as raw JSON; newer scans leave out event type and event id, and name the
            update.
        next_page_token: only valid at the server and route that gave it; None after the last page. A text from newer
            scans, a number from older ones.
    """

    record_time: str
    migration_id: int
    created_events: list[Raw]
    next_page_token: int | str | None = None


class SnapshotCalls(Calls):
    """Calls of scan for snapshots of the active contracts. One method, one request."""

    @sends()
    def call(self, method: str, path: str, *, json: Any = None, params: Mapping[str, Any] | None = None) -> Call[Any]:
        """Send one read to any route of scan, with the retries, limits and masking of every other call.

        A read may be sent several times, so do not use this for a route that changes something.

        Args:
            method: `"GET"` or `"POST"`.
            path: the path below the scan's base URL, such as `"/v0/dso"`. Characters that a path cannot contain are
                percent-encoded; an escape such as `%2F` is kept.
            json: a value to send as JSON; POST only.
            params: the query; a name whose value is None is left out, a list repeats its name.

        Returns:
            The parsed JSON; numbers with a fraction are `Decimal`. `net.scan.preview.call` and `net.scan.raw.call`
            return a `Prepared` and an `Answer`, as for every call.

        Raises:
            RequestError: the scan gave no answer.
            DecodeError: the answer is not JSON.

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     answer = net.scan.call("GET", "/v0/admin/validator/licenses", params={"limit": 1000})
            >>> len(answer["validator_licenses"])
            24
        """
        endpoint = Endpoint(interface="scan", method=_method(method, json), path=_path(path))
        body = UNSET
        if json is not None:
            writable(json, "json")
            body = json
        return Call(endpoint.request(query=_query(params), json=body), reads(Any))

    @sends(SNAPSHOT_TIME, neighbour=True)
    def snapshot_time(self, *, before: When, migration_id: int) -> Call[SnapshotTime | None]:
        """Read the time of the newest snapshot before a time (GET /v0/state/acs/snapshot-timestamp).

        Args:
            before: in UTC; some releases include a snapshot at exactly this time.
            migration_id: the snapshot's migration id.

        Returns:
            None if there is no such snapshot.
        """
        query = {
            "before": format_timestamp(to_micros(before, "before")),
            "migration_id": fits(migration_id, Whole64, "migration_id"),
        }
        return Call(SNAPSHOT_TIME.request(query=query), reads(SnapshotTime), missing=None)

    @sends(ACTIVE_CONTRACTS, neighbour=True)
    def active_contracts(
        self,
        *,
        record_time: When,
        migration_id: int,
        templates: Iterable[str] | None = None,
        parties: Iterable[str] | None = None,
        after: int | str | None = None,
        page_size: int = 1000,
        route: Route | None = None,
    ) -> Call[SnapshotPage]:
        """Read one page of the contracts active at a snapshot (POST /v2/state/acs; older scans: /v1, /v0).

        Args:
            record_time: the snapshot's own time, as `snapshot_time` returns it.
            migration_id: the snapshot's migration id.
            templates: only contracts of these, each as `Module:Entity` or, outside of Splice,
                `package-name:Module:Entity`; 1,000 at most.
            parties: only contracts that one of these signs or observes; 1,000 at most.
            after: the `next_page_token` of the previous page, from the same server and route. A text is sent to
                the newest route only, a number never.
            page_size: return at most this many contracts; scans allow 1,000 by default.
            route: ask only this route; by default the newest that the scan has.

        Raises:
            NotFoundError: there is no such snapshot, or the scan serves none of the routes.
        """
        some = partial(listed, splits="load_active_contracts")
        body = without_none(
            **_snapshot(record_time, migration_id, after, page_size),
            templates=None if templates is None else template_names(some(templates, "templates", Text)),
            party_ids=None if parties is None else some(parties, "parties", PartyId),
        )
        return _page((ACTIVE_CONTRACTS, ACTIVE_CONTRACTS_V1, ACTIVE_CONTRACTS_V0), body, route)

    @sends(COINS, neighbour=True, like=active_contracts)
    def coins(
        self,
        *,
        record_time: When,
        migration_id: int,
        owners: Iterable[str],
        after: int | str | None = None,
        page_size: int = 1000,
        route: Route | None = None,
    ) -> Call[SnapshotPage]:
        """Read one page of the coins of some parties at a snapshot (POST /v2/holdings/state; older scans: /v1, /v0).

        Args:
            owners: the owners' party ids; 1,000 at most, which `load_coins` splits longer lists into.

        Raises:
            NotFoundError: there is no such snapshot, or the scan serves none of the routes.
        """
        body = without_none(
            **_snapshot(record_time, migration_id, after, page_size),
            owner_party_ids=listed(owners, "owners", PartyId, splits="load_coins"),
        )
        return _page((COINS, COINS_V1, COINS_V0), body, route)

    holdings_summary = sends(HOLDINGS_SUMMARY_OF_SCAN, neighbour=True)(holdings_summary)


def template_names(templates: Iterable[str]) -> tuple[str, ...]:
    """Templates for scan's filters, which match `package-name:Module:Entity` alone.

    Raises:
        InputError: one is of another form, or is `Module:Entity` of a package that is not known.
    """
    return tuple(
        _template_name(name, f"templates[{position}]={shown(name)}")
        for position, name in enumerate(each(templates, "templates", kind=Text, least=1))
    )


def _template_name(name: str, given: str) -> str:
    """A template with the name of its package."""
    if _TEMPLATE.fullmatch(name) and not re.fullmatch(r"[0-9a-f]{64}", name.partition(":")[0]):
        return name
    own = _ENTITY.fullmatch(name)
    if own is None:
        raise InputError(
            f"{given} is not valid: give Module:Entity, such as 'Splice.Amulet:Amulet', or package-name:Module:Entity"
        )
    if own[1] not in _PACKAGES:
        raise InputError(
            f"{given} is in a package that is not known: give 'package-name:{name}', with the package's name"
            " as the column package_name of events has it"
        )
    return f"{_PACKAGES[own[1]]}:{name}"


def _snapshot(record_time: When, migration_id: int, after: int | str | None, page_size: int) -> dict[str, Any]:
    return {
        "migration_id": fits(migration_id, Whole64, "migration_id"),
        "record_time": format_timestamp(to_micros(record_time, "record_time")),
        "page_size": fits(page_size, Positive32, "page_size"),
        "after": fits(after, _After, "after"),
    }


def _page(endpoints: Sequence[Endpoint], body: dict[str, Any], route: Any) -> Call[SnapshotPage]:
    """Ask for a page on the routes that the token may belong to, the newest first."""
    if route is not None:
        chosen = choice(route, "route", get_args(Route))
        endpoints = [endpoint for endpoint in endpoints if endpoint.path.startswith(f"/{chosen}/")]
    elif "after" in body:
        # Tokens are texts on the newest route and numbers on the others, and mean nothing elsewhere.
        endpoints = endpoints[:1] if isinstance(body["after"], str) else endpoints[1:]
    first, *others = (endpoint.request(json=body) for endpoint in endpoints)
    return Call(first, reads(SnapshotPage), alternatives=tuple(others))


def _method(method: Any, json: Any) -> str:
    if not isinstance(method, str) or method not in {"GET", "POST"}:
        raise InputError(f"method={shown(method)} is not valid: give 'GET' or 'POST'; this is for reads only")
    if method == "GET" and json is not None:
        raise InputError("json= has no place in a GET: give params=, or method='POST'")
    return str(method)


def _path(path: Any) -> str:
    """Percent-encode the path; it cannot leave the scan's base URL."""
    parts = path.split("/") if isinstance(path, str) else []
    if len(parts) < 2 or parts[0] or any(unquote(part) in {"", ".", ".."} for part in parts[1:]):
        raise InputError(
            f"path={shown(path)} is not valid: give the path below the base URL, such as '/v0/dso', without steps . and"
            " .."
        )
    if "?" in path or "#" in path:
        raise InputError(f"path={shown(path)} is not valid: give the query as params=, and write # as %23")
    if _ESCAPE.search(path):
        raise InputError(f"path={shown(path)} is not valid: write a % without two hexadecimal digits after it as %25")
    try:
        return quote(path, safe="/%")
    except UnicodeEncodeError as error:
        raise InputError(f"path={shown(path)} is not Unicode text: {error}") from error


def _query(params: Any) -> dict[str, str | int | bool | Sequence[str] | None]:
    if params is None:
        return {}
    if not isinstance(params, Mapping) or not all(isinstance(name, str) and name for name in params):
        raise InputError(f"params={shown(params)} is not valid: give a dict from names to values")
    return {name: _value(name, value) for name, value in params.items()}


def _value(name: str, value: Any) -> str | int | bool | Sequence[str] | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise InputError(
        f"params[{name!r}]={shown(value)} is not valid: give text, a number, True, False or a list of texts"
    )
