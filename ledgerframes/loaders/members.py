"""Loaders of the traffic of members and the faucet rounds of validators, from scan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.arguments import text
from ledgerframes.errors import DecodeError, InputError, StatusError
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.rules import PartyId, distinct
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.table_loader import TableLoad, items_of, needing
from ledgerframes.tables.network_now import TRAFFIC, VALIDATOR_FAUCETS

#: The most characters of a query; servers usually limit a whole URL to 2,048.
_QUERY: Final = 1_800


@loader(TRAFFIC, needs=(routes.TRAFFIC,), instead="ask the validator's operator")
def load_traffic(load: TableLoad, members: Iterable[str], *, synchronizer: str | None = None) -> Any:
    """Load the extra traffic of participants and mediators: consumed, limit and purchased.

    Endpoint: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status, one request per member.

    Args:
        net: the network; its scan is asked.
        members: member ids, `PAR::…` of a participant or `MED::…` of a mediator; one row for each, in this order.
        synchronizer: id of the synchronizer; by default that of the coin's rules, read with one GET /v0/dso.

    Returns:
        One row per member: found, total_consumed, total_limit and total_purchased in bytes. `found` is False and the
        amounts are null for a member that the synchronizer does not know.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     ids = lf.load_super_validators(net).participant_id
        ...     traffic = lf.load_traffic(net, ids)
        >>> bool(traffic.found.all())
        True
    """
    wanted = distinct(members, "members", empty=": give at least one member id", kind=routes.MemberId)[: load.limit]
    chosen = None if synchronizer is None else text(synchronizer, "synchronizer", "the id of a synchronizer")
    items: list[Raw] = []
    with load.asking():
        with needing(routes.DSO, instead="name the synchronizer: synchronizer="):
            chosen = chosen or _main(load)
        for member in wanted:
            status = load.origin.body(load.net.scan.raw.traffic_status, synchronizer=chosen, member=member)
            items.append(Raw(msgspec.json.encode(status)))
    batch = load.read(
        items,
        member=wanted[: len(items)],
        synchronizer_id=[chosen] * len(items),
        found=[bytes(item) != b"{}" for item in items],
    )
    _check_found(batch)
    return load.frame(batch)


def _check_found(batch: pa.RecordBatch) -> None:
    """Refuse an answer for a known member without all three numbers."""
    known = batch.column("found").to_pylist()
    for name in ("total_consumed", "total_limit", "total_purchased"):
        for position, value in enumerate(batch.column(name).to_pylist()):
            if known[position] and value is None:
                raise DecodeError(
                    f"{routes.TRAFFIC}: item {position}: {name} is missing",
                    endpoint=str(routes.TRAFFIC), table=TRAFFIC.name, column=name, item=f"item {position}",
                )  # fmt: skip


class _Rules(Struct):
    domain_id: str | None = None


_rules: Final = msgspec.json.Decoder(_Rules)


def _main(load: TableLoad) -> str:
    """The synchronizer of the coin's rules."""
    members = load.origin.body(load.net.scan.raw.dso)
    with reading(routes.DSO, item="amulet_rules"):
        synchronizer_id = _rules.decode(members.get("amulet_rules", Raw(b"{}"))).domain_id
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
        net: the network; its scan is asked.
        validators: party ids of validators; one row for each, in this order.

    Returns:
        One row per validator: found, the number of rounds collected and missed, the first and last round. `found` is
        False and the rest null for a party without a license.

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
    wanted = distinct(validators, "validators", empty=": give at least one party id", kind=PartyId)[: load.limit]
    with load.asking():
        for part in _parts(wanted):
            by_validator |= _faucets(load, part)
            requested += part
    items = [by_validator.get(validator, Raw(b"{}")) for validator in requested]
    found = [validator in by_validator for validator in requested]
    return load.frame(load.read(items, left_out=["/validator"], validator=requested, found=found))


_validator_of: Final = reads(str, "validator")


def _faucets(load: TableLoad, validators: list[str]) -> dict[str, Raw]:
    """The answer's items by validator; if the server finds the URL too long, each half of the list is requested."""
    try:
        members = load.origin.body(load.net.scan.raw.validator_faucets, validators)
    except StatusError as error:
        if error.status not in {413, 414, 431} or len(validators) == 1:
            raise
        middle = len(validators) // 2
        return _faucets(load, validators[:middle]) | _faucets(load, validators[middle:])
    items = items_of(members, "validatorsReceivedFaucets", str(routes.FAUCETS))
    with reading(routes.FAUCETS, table=VALIDATOR_FAUCETS.name):
        return {_validator_of(item): item for item in items}


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
