"""Loaders of the present state of the network: rounds, featured apps, super validators and scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pyarrow.compute as pc
from msgspec import Raw, Struct

from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.answers import reading
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad, items_of
from ledgerframes.tables.network_now import FEATURED_APPS, ROUNDS, SCANS, SUPER_VALIDATORS

_PHASES: Final = {"open_mining_rounds": "open", "issuing_mining_rounds": "issuing"}


@loader(
    ROUNDS,
    needs=(routes.ROUNDS, routes.CLOSED_ROUNDS),
    instead="look for the contracts of Splice.Round in the history from lf.load_events",
)
def load_rounds(load: TableLoad) -> Any:
    """Load the present mining rounds: open, issuing, and closed but not yet settled.

    They come from two requests, so a round that changes its phase in between can be missing or appear twice.

    Endpoints: POST /v0/open-and-issuing-mining-rounds, GET /v0/closed-rounds.

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per round and phase, in the order of the rounds' numbers: round, phase, opens_at and more;
        `lf.describe("rounds")` lists every column with its unit. `attrs["phases"]` says which were asked for: a
        validator alone does not serve the closed ones.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.load_rounds(net)
        >>> set(rounds.phase) <= {"open", "issuing", "closed"}
        True
    """
    rounds: list[tuple[str, Raw]] = []
    with load.asking(routes.ROUNDS):
        members = load.origin.body(load.net.scan.raw.open_and_issuing_rounds)
        for name, phase in _PHASES.items():
            rounds += [(phase, item) for item in _values_of(members, name, str(routes.ROUNDS))]
    phases = [*_PHASES.values()]
    settings = load.net.settings
    if settings.scan_url or not settings.validator_url:
        phases.append("closed")
        with load.asking(routes.CLOSED_ROUNDS):
            members = load.origin.body(load.net.scan.raw.closed_rounds)
            closed = items_of(members, "rounds", str(routes.CLOSED_ROUNDS))
            rounds += [("closed", Raw(b'{"contract":' + bytes(item) + b"}")) for item in closed]
    batch = load.read([item for _, item in rounds], phase=[phase for phase, _ in rounds])
    order = pc.sort_indices(batch, sort_keys=[("round", "ascending"), ("contract_id", "ascending")])
    return load.frame(batch.take(order), phases=", ".join(phases))


def _values_of(members: dict[str, Raw], name: str, endpoint: str) -> list[Raw]:
    """The values of an object by contract id."""
    with reading(endpoint, problem=f"{name!r} is missing or not an object", table=ROUNDS.name, column=name):
        return list(_map.decode(members[name]).values())


_map: Final = msgspec.json.Decoder(dict[str, Raw])


@loader(
    FEATURED_APPS,
    needs=(routes.FEATURED_APPS,),
    instead="look for the contracts of Splice.Amulet:FeaturedAppRight with lf.load_active_contracts",
)
def load_featured_apps(load: TableLoad) -> Any:
    """Load the featured app rights, one row per right.

    Endpoint: GET /v0/featured-apps.

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per right: contract_id, provider and more; a party can hold several.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     apps = lf.load_featured_apps(net)
        >>> "provider" in apps
        True
    """
    items: list[Raw] = []
    with load.asking():
        items = load.items("featured_apps", load.net.scan.raw.featured_apps)
    return load.frame(load.read(items))


@loader(
    SUPER_VALIDATORS,
    needs=(routes.DSO,),
    instead="look for the contracts of Splice.DsoRules:DsoRules with lf.load_active_contracts",
)
def load_super_validators(load: TableLoad) -> Any:
    """Load the super validators, which run the network together: weights, participants and addresses.

    Endpoint: GET /v0/dso.

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per super validator, in the order of the rules: party, name, reward_weight, participant_id and more. The
        addresses are those on the synchronizer of the rules; null if a super validator has announced no node.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     names = lf.load_super_validators(net).name
        >>> len(names) > 0
        True
    """
    items: list[Raw] = []
    with load.asking():
        items = _members_of(load.origin.body(load.net.scan.raw.dso))
    return load.frame(load.read(items))


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
    with reading(routes.DSO, table=SUPER_VALIDATORS.name, item="the rules or the states of nodes"):
        rules = _rules.decode(members["dso_rules"])
        states = [node.contract.payload for node in _nodes.decode(members.get("sv_node_states", Raw(b"[]")))]
    nodes = {state.sv: dict(state.state.synchronizer_nodes) for state in states}
    values = []
    for party, info in rules.contract.payload.svs:
        known = nodes.get(party, {})
        node = known.get(rules.domain_id or "") or next(iter(known.values()), None)
        item = {"party": party, "info": info} | ({} if node is None else {"node": node})
        values.append(Raw(msgspec.json.encode(item)))
    return values


@loader(SCANS, needs=(routes.SCANS,), instead="lf.load_super_validators names them too")
def load_scans(load: TableLoad) -> Any:
    """Load the addresses of all scans of the network.

    Endpoint: GET /v0/scans.

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per scan and synchronizer: url, sv_name and synchronizer_id. The operator of a scan states its address:
        check it before you connect.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     urls = lf.load_scans(net).url
        >>> len(urls) > 0
        True
    """
    items: list[Raw] = []
    synchronizers: list[str] = []
    with load.asking():
        for synchronizer, group in _groups(load.items("scans", load.net.scan.raw.scans)):
            items += group
            synchronizers += [synchronizer] * len(group)
    return load.frame(load.read(items, synchronizer_id=synchronizers))


class _Group(Struct, rename="camel"):
    domain_id: str
    scans: list[Raw]


_group: Final = msgspec.json.Decoder(_Group)


def _groups(items: Sequence[Raw]) -> list[tuple[str, list[Raw]]]:
    with reading(routes.SCANS, table=SCANS.name):
        return [(listed.domain_id, listed.scans) for listed in map(_group.decode, items)]
