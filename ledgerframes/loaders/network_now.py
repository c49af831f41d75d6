"""Loaders of the present state of the network: rounds, featured apps, super validators and scans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow.compute as pc
from msgspec import Raw, Struct

from ledgerframes.arguments import flag
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.scan_routes import needing
from ledgerframes.loaders.signatures import contract_loader, snapshot_loader
from ledgerframes.loaders.table_loader import Form, Origin, items_of
from ledgerframes.tables.network_now import FEATURED_APPS, ROUNDS, SCANS, SUPER_VALIDATORS

if TYPE_CHECKING:
    from ledgerframes.network import Network

_BLOB: Final = "/created_event_blob"
_PHASES: Final = {"open_mining_rounds": "open", "issuing_mining_rounds": "issuing"}


@contract_loader
def load_rounds(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the present mining rounds: open, issuing, and closed but not yet settled.

    They come from two requests, so a round that changes its phase in between can be missing or appear twice.

    Endpoints: POST /v0/open-and-issuing-mining-rounds, GET /v0/closed-rounds.

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per round and phase, in the order of the rounds' numbers: round, phase, opens_at and more;
        `lf.describe("rounds")` lists every column with its unit. `attrs["phases"]` says which were asked for: a
        validator alone does not serve the closed ones.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.load_rounds(net)
        >>> set(rounds.phase) <= {"open", "issuing", "closed"}
        True
    """
    table = ROUNDS.having(*(["blobs"] if flag(blobs, "blobs") else []))
    form = Form.of(
        table,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    rounds: list[tuple[str, Raw]] = []
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.ROUNDS, instead=_FROM_EVENTS):
        members = origin.body(net.scan.raw.open_and_issuing_rounds)
        for name, phase in _PHASES.items():
            rounds += [(phase, item) for item in _values_of(members, name, str(routes.ROUNDS))]
    phases = [*_PHASES.values()]
    if net.settings.scan_url or not net.settings.validator_url:
        phases.append("closed")
        with origin.tolerating(allow_partial=form.allow_partial), needing(routes.CLOSED_ROUNDS, instead=_FROM_EVENTS):
            members = origin.body(net.scan.raw.closed_rounds)
            closed = items_of(members, "rounds", str(routes.CLOSED_ROUNDS))
            rounds += [("closed", Raw(b'{"contract":' + bytes(item) + b"}")) for item in closed]
    batch = read_records(
        table, [item for _, item in rounds], table.endpoints[0],
        given={"phase": [phase for phase, _ in rounds]}, left_out=[] if blobs else [f"/contract{_BLOB}"],
    )  # fmt: skip
    order = pc.sort_indices(batch, sort_keys=[("round", "ascending"), ("contract_id", "ascending")])
    return form.frame(batch.take(order), origin, phases=", ".join(phases))


_FROM_EVENTS: Final = "look for the contracts of Splice.Round in the history from lf.load_events"


def _values_of(members: dict[str, Raw], name: str, endpoint: str) -> list[Raw]:
    """The values of an object by contract id."""
    try:
        return list(_map.decode(members[name]).values())
    except (KeyError, msgspec.DecodeError) as error:
        raise DecodeError(
            f"{endpoint}: {name!r} is missing or not an object", endpoint=endpoint, table=ROUNDS.name, column=name
        ) from error


_map: Final = msgspec.json.Decoder(dict[str, Raw])


@contract_loader
def load_featured_apps(
    net: Network,
    *,
    blobs: bool = False,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the featured app rights, one row per right.

    Endpoint: GET /v0/featured-apps.

    Args:
        net: the network; its scan is asked.
        blobs: keep `created_event_blob`.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per right: contract_id, provider and more; a party can hold several.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     apps = lf.load_featured_apps(net)
        >>> "provider" in apps
        True
    """
    table = FEATURED_APPS.having(*(["blobs"] if flag(blobs, "blobs") else []))
    form = Form.of(
        table,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    items: list[Raw] = []
    instead = "look for the contracts of Splice.Amulet:FeaturedAppRight with lf.load_active_contracts"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.FEATURED_APPS, instead=instead):
        items = items_of(origin.body(net.scan.raw.featured_apps), "featured_apps", table.endpoints[0])
    left_out = [] if blobs else [_BLOB]
    return form.frame(read_records(table, items, table.endpoints[0], left_out=left_out), origin)


@snapshot_loader
def load_super_validators(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the super validators, which run the network together: weights, participants and addresses.

    Endpoint: GET /v0/dso.

    Args:
        net: the network; its scan is asked.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per super validator, in the order of the rules: party, name, reward_weight, participant_id and more. The
        addresses are those on the synchronizer of the rules; null where a super validator has announced no node.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     names = lf.load_super_validators(net).name
        >>> len(names) > 0
        True
    """
    table = SUPER_VALIDATORS
    form = Form.of(
        table,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    items: list[Raw] = []
    instead = "look for the contracts of Splice.DsoRules:DsoRules with lf.load_active_contracts"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.DSO, instead=instead):
        items = _members_of(origin.body(net.scan.raw.dso))
    return form.frame(read_records(table, items, table.endpoints[0]), origin)


class _Rules(Struct):
    class Contract(Struct):
        class Payload(Struct):
            svs: list[tuple[str, Raw]]

        payload: Payload

    contract: Contract
    domain_id: str | None = None


class _Node(Struct):
    class Contract(Struct):
        class Payload(Struct):
            class State(Struct, rename="camel"):
                synchronizer_nodes: list[tuple[str, Raw]] = []

            sv: str
            state: State

        payload: Payload

    contract: Contract


_rules: Final = msgspec.json.Decoder(_Rules)
_nodes: Final = msgspec.json.Decoder(list[_Node])


def _members_of(members: dict[str, Raw]) -> list[Raw]:
    """Each super validator's entry in the rules, with the state of its node."""
    try:
        rules = _rules.decode(members["dso_rules"])
        states = [node.contract.payload for node in _nodes.decode(members.get("sv_node_states", Raw(b"[]")))]
    except (KeyError, msgspec.DecodeError) as error:
        raise DecodeError(
            f"{routes.DSO}: the rules or the states of nodes cannot be read: {error}",
            endpoint=str(routes.DSO), table=SUPER_VALIDATORS.name,
        ) from error  # fmt: skip
    nodes = {state.sv: dict(state.state.synchronizer_nodes) for state in states}
    values = []
    for party, info in rules.contract.payload.svs:
        known = nodes.get(party, {})
        node = known.get(rules.domain_id or "") or next(iter(known.values()), None)
        item = {"party": party, "info": info} | ({} if node is None else {"node": node})
        values.append(Raw(msgspec.json.encode(item)))
    return values


@snapshot_loader
def load_scans(
    net: Network,
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the addresses of all scans of the network.

    Endpoint: GET /v0/scans.

    Args:
        net: the network; its scan is asked.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per scan and synchronizer: url, sv_name and synchronizer_id. The operator of a scan states its address:
        check it before you connect.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     urls = lf.load_scans(net).url
        >>> len(urls) > 0
        True
    """
    form = Form.of(
        SCANS,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    origin = Origin()
    items: list[Raw] = []
    synchronizers: list[str] = []
    instead = "lf.load_super_validators names them too"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.SCANS, instead=instead):
        groups = items_of(origin.body(net.scan.raw.scans), "scans", SCANS.endpoints[0])
        for synchronizer, group in _groups(groups):
            items += group
            synchronizers += [synchronizer] * len(group)
    given = {"synchronizer_id": synchronizers}
    return form.frame(read_records(SCANS, items, SCANS.endpoints[0], given=given), origin)


class _Group(Struct, rename="camel"):
    domain_id: str
    scans: list[Raw]


_group: Final = msgspec.json.Decoder(_Group)


def _groups(items: Sequence[Raw]) -> list[tuple[str, list[Raw]]]:
    try:
        groups = [_group.decode(item) for item in items]
    except msgspec.DecodeError as error:
        raise DecodeError(f"{routes.SCANS}: {error}", endpoint=str(routes.SCANS), table=SCANS.name) from error
    return [(listed.domain_id, listed.scans) for listed in groups]
