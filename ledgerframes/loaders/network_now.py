"""Loaders of the present state of the network: rounds, apps, operators, scans, traffic, faucet rounds and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.arguments import text
from ledgerframes.errors import InputError, PagingError, PartialResultError
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.answers import elements_of, members_of, reading, reads, reads_optional
from ledgerframes.interfaces.history_pages import as_many_as_allowed
from ledgerframes.interfaces.rules import PartyId, distinct
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad, items_of, needing
from ledgerframes.tables.network_now import (
    FEATURED_APPS,
    NAMES,
    ROUNDS,
    SCANS,
    SUPER_VALIDATORS,
    TRAFFIC,
    VALIDATOR_FAUCETS,
)

_PHASES: Final = {"open_mining_rounds": "open", "issuing_mining_rounds": "issuing"}


@loader(
    ROUNDS,
    needs=(routes.ROUNDS, routes.CLOSED_ROUNDS),
    instead="look for the contracts of Splice.Round in the history from lf.load_events",
)
def load_rounds(load: TableLoad) -> Any:
    """Load the present mining rounds: open, issuing, and closed but not yet settled.

    They come from two requests, so a round that changes its phase in between can be missing or appear twice. Rows are
    in the order of the rounds' numbers. `attrs["phases"]` says which phases were asked for: a validator alone does not
    serve the closed ones.

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
            problem = f"{name!r} is missing or not an object"
            with reading(routes.ROUNDS, problem=problem, table=ROUNDS.name, column=name):
                rounds += [(phase, item) for item in members_of(members[name]).values()]
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


@loader(
    FEATURED_APPS,
    needs=(routes.FEATURED_APPS,),
    instead="look for the contracts of Splice.Amulet:FeaturedAppRight with lf.load_active_contracts",
)
def load_featured_apps(load: TableLoad) -> Any:
    """Load the featured app rights; a party can hold several.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     apps = lf.load_featured_apps(net)
        >>> "provider" in apps
        True
    """
    with load.asking() as items:
        items.extend(load.items("featured_apps", load.net.scan.raw.featured_apps))
    return load.frame(load.read(items))


@loader(
    SUPER_VALIDATORS,
    needs=(routes.DSO,),
    instead="look for the contracts of Splice.DsoRules:DsoRules with lf.load_active_contracts",
)
def load_super_validators(load: TableLoad) -> Any:
    """Load the super validators, which run the network together, in the order of the rules.

    The addresses are those on the synchronizer of the rules; null if a super validator has announced no node.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     names = lf.load_super_validators(net).name
        >>> len(names) > 0
        True
    """
    with load.asking() as items:
        items.extend(_members_of(load.origin.body(load.net.scan.raw.dso)))
    return load.frame(load.read(items))


_synchronizer_of: Final = reads_optional(str, "domain_id")
_parties_of: Final = reads(list[tuple[str, Raw]], "contract", "payload", "svs")
_party_of: Final = reads(str, "contract", "payload", "sv")
_nodes_of: Final = reads_optional(list[tuple[str, Raw]], "contract", "payload", "state", "synchronizerNodes")


def _members_of(members: dict[str, Raw]) -> list[Raw]:
    """Each super validator's entry in the rules, with the state of its node."""
    with reading(routes.DSO, table=SUPER_VALIDATORS.name, item="the rules or the states of nodes"):
        rules = members["dso_rules"]
        parties, synchronizer_id = _parties_of(rules), _synchronizer_of(rules) or ""
        states = elements_of(members.get("sv_node_states", Raw(b"[]")))
        nodes = {_party_of(state): dict(_nodes_of(state) or ()) for state in states}
    values = []
    for party, info in parties:
        known = nodes.get(party, {})
        node = known.get(synchronizer_id) or next(iter(known.values()), None)
        item = {"party": party, "info": info} | ({} if node is None else {"node": node})
        values.append(Raw(msgspec.json.encode(item)))
    return values


@loader(SCANS, needs=(routes.SCANS,), instead="lf.load_super_validators names them too")
def load_scans(load: TableLoad) -> Any:
    """Load the addresses of all scans of the network, as their operators state them: check one before you connect.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     urls = lf.load_scans(net).url
        >>> len(urls) > 0
        True
    """
    synchronizers: list[str] = []
    with load.asking() as items:
        for group in load.items("scans", load.net.scan.raw.scans):
            with reading(routes.SCANS, table=SCANS.name):
                synchronizer, scans = _named_by(group), _scans_of(group)
            items.extend(scans)
            synchronizers += [synchronizer] * len(scans)
    return load.frame(load.read(items, synchronizer_id=synchronizers))


_named_by: Final = reads(str, "domainId")
_scans_of: Final = reads(list[Raw], "scans")


#: The most characters of a query; servers usually limit a whole URL to 2,048.
_QUERY: Final = 1_800


@loader(TRAFFIC, needs=(routes.TRAFFIC,), instead="ask the validator's operator")
def load_traffic(load: TableLoad, members: Iterable[str], *, synchronizer: str | None = None) -> Any:
    """Load the extra traffic of participants and mediators: consumed, limit and purchased.

    Endpoint: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status, one request per member. The balance,
    what is left, is `total_limit` less `total_consumed`.

    Args:
        members: member ids, `PAR::…` of a participant or `MED::…` of a mediator; one row for each different one,
            in this order. `found` is False and the amounts are null for one that the synchronizer does not know.
        synchronizer: id of the synchronizer; by default that of the coin's rules, read with one GET /v0/dso.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     ids = lf.load_super_validators(net).participant_id
        ...     traffic = lf.load_traffic(net, ids)
        >>> bool(traffic.found.all())
        True
    """
    wanted = distinct(members, "members", routes.MemberId)[: load.limit]
    chosen = None if synchronizer is None else text(synchronizer, "synchronizer", "the id of a synchronizer")
    with load.asking() as items:
        with needing(routes.DSO, instead="name the synchronizer: synchronizer="):
            chosen = chosen or _main(load)
        for member in wanted:
            status = load.origin.body(load.net.scan.raw.traffic_status, synchronizer=chosen, member=member)
            if status:  # a known member has all three numbers
                with reading(routes.TRAFFIC, table=TRAFFIC.name, item=f"item {len(items)}"):
                    _status_of(status["traffic_status"])
            items.append(Raw(msgspec.json.encode(status)))
    batch = load.read(
        items,
        member=wanted[: len(items)],
        synchronizer_id=[chosen] * len(items),
        found=[bytes(item) != b"{}" for item in items],
    )
    return load.frame(batch)


_status_of: Final = reads(routes.TrafficStatus)


def _main(load: TableLoad) -> str:
    """The synchronizer of the coin's rules."""
    members = load.origin.body(load.net.scan.raw.dso)
    with reading(routes.DSO, item="amulet_rules"):
        synchronizer_id = _synchronizer_of(members.get("amulet_rules", Raw(b"{}")))
    if not synchronizer_id:
        raise InputError(f"{routes.DSO} does not name the synchronizer of the coin's rules: give synchronizer=")
    return synchronizer_id


@loader(
    VALIDATOR_FAUCETS,
    needs=(routes.FAUCETS,),
    instead="load_licenses has the first and last round, and those missed",
)
def load_validator_faucets(load: TableLoad, validators: Iterable[str]) -> Any:
    """Load how many rounds validators collected faucet coupons for, and which were the first and the last.

    Endpoint: GET /v0/validators/validator-faucets; a long list is split into several requests.

    Args:
        validators: party ids of validators; one row for each different one, in this order. `found` is False and the
            rest null for a party without a license.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     licenses = lf.load_licenses(net)
        ...     faucets = lf.load_validator_faucets(net, licenses.validator)
        >>> bool(faucets.found.all())
        True
    """
    by_validator: dict[str, Raw] = {}
    requested: list[str] = []
    wanted = distinct(validators, "validators", PartyId)[: load.limit]
    with load.asking():
        for part in _parts(wanted):
            items = load.items("validatorsReceivedFaucets", load.net.scan.raw.validator_faucets, part)
            with reading(routes.FAUCETS, table=VALIDATOR_FAUCETS.name):
                by_validator |= {_validator_of(item): item for item in items}
            requested += part
    items = [by_validator.get(validator, Raw(b"{}")) for validator in requested]
    found = [validator in by_validator for validator in requested]
    return load.frame(load.read(items, left_out=["/validator"], validator=requested, found=found))


_validator_of: Final = reads(str, "validator")


def _parts(validators: list[str]) -> list[list[str]]:
    """Split the list so that no query is too long."""
    parts: list[list[str]] = [[]]
    size = 0
    for validator in validators:
        length = len("&validator_ids=") + len(quote(validator, safe=""))
        if parts[-1] and size + length > _QUERY:
            parts.append([])
            size = 0
        parts[-1].append(validator)
        size += length
    return parts


#: The characters of names: the name service accepts a to z, digits, _ and -; the dot separates its suffixes.
_ALPHABET: Final = "-.0123456789_abcdefghijklmnopqrstuvwxyz"
_SIZE: Final = 1_000
_LONGEST: Final = 255
_ALL: Final = 2**63


_name_of: Final = reads(str, "name")


@loader(NAMES, needs=(routes.NAMES,), instead="load_name_entries asks a validator for its user's own names")
def load_names(load: TableLoad, *, prefix: str | None = None) -> Any:
    """Load the names of the name service, network-wide, with the parties that own them.

    The server returns at most 1,000 names and no next page. If an answer is full, the names are requested again by
    prefixes that are one character longer, as often as needed; names consist of a to z, digits, `_`, `-` and `.`. Rows
    are in alphabetical order; the operator's own names have no contract and do not expire.

    Args:
        prefix: only names that begin with this.

    Raises:
        PartialResultError: an answer is full and longer prefixes do not split it.
        PagingError: the server ignores the prefix.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     owners = lf.load_names(net).set_index("name").party
        >>> bool(owners.index.is_unique)
        True
    """
    beginning = "" if prefix is None else text(prefix, "prefix", "the beginning of names, such as 'alice'")
    most = _ALL if load.limit is None else load.limit
    prefixes, found, size = [beginning], dict[str, Raw](), _SIZE
    with load.asking():
        while prefixes and len(found) < most:
            prefix = prefixes.pop()
            items, size = _beginning_with(load, prefix, size)
            found |= items
            if len(items) < size or len(found) >= most:
                continue
            if len(prefix) >= _LONGEST:
                raise PartialResultError(
                    f"{routes.NAMES}: more than {len(items)} names begin with {prefix[:40]!r}, and the server returns"
                    " no more of them: allow_partial=True returns those that it did"
                )
            if prefix:
                # The entry of exactly this name, which no longer prefix returns.
                members = load.origin.body(load.net.scan.raw.ans_entry_by_name, prefix)
                found |= {prefix: members.get("entry", Raw(b"null"))} if members else {}
            following = {name[len(prefix)] for name in items if len(name) > len(prefix)}
            prefixes += [prefix + character for character in sorted(following.union(_ALPHABET), reverse=True)]
    return load.frame(load.read([item for _, item in sorted(found.items())]))


def _beginning_with(load: TableLoad, prefix: str, size: int) -> tuple[dict[str, Raw], int]:
    """The entries by name, and the number that was asked for: as many may not be all."""
    members, size = as_many_as_allowed(
        size, lambda most: load.origin.body(load.net.scan.raw.ans_entries, prefix=prefix, page_size=most)
    )
    items = items_of(members, "entries", str(routes.NAMES))
    with reading(routes.NAMES, table=NAMES.name):
        entries = {_name_of(item): item for item in items}
    other = next((name for name in entries if not name.startswith(prefix)), None)
    if other is not None:
        raise PagingError(
            f"{routes.NAMES}: asked for names that begin with {prefix[:40]!r}, the server sent {other[:80]!r};"
            " missing names cannot be requested"
        )
    return entries, size
