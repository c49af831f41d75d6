"""Loaders of what scan tells of members and validators: traffic, faucet rounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload
from urllib.parse import quote

import msgspec
import pandas as pd
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.arguments import names, suggesting, text
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError, InputError, StatusError
from ledgerframes.frames import As, Decimals
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.rules import PartyId, each
from ledgerframes.loaders.scan_routes import needing
from ledgerframes.loaders.table_loader import Form, FormOptions, Origin, items_of
from ledgerframes.tables.network_now import TRAFFIC, VALIDATOR_FAUCETS

if TYPE_CHECKING:
    from ledgerframes.network import Network

#: Characters of one query; the servers' usual bound for a whole URL is 2,048.
_QUERY: Final = 1_800


class TrafficOptions(FormOptions, total=False):
    """The keywords of `load_traffic` but its form, for its overloads; a test holds both together."""

    synchronizer: str | None


@overload
def load_traffic(
    net: Network, members: Iterable[str], *, as_: Literal["pandas"] = ..., **options: Unpack[TrafficOptions]
) -> pd.DataFrame: ...
@overload
def load_traffic(
    net: Network, members: Iterable[str], *, as_: Literal["arrow"], **options: Unpack[TrafficOptions]
) -> pa.Table: ...
@overload
def load_traffic(
    net: Network, members: Iterable[str], *, as_: Literal["polars"], **options: Unpack[TrafficOptions]
) -> Any: ...
@suggesting
def load_traffic(
    net: Network,
    members: Iterable[str],
    *,
    synchronizer: str | None = None,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the extra traffic of participants and mediators: used, usable, bought.

    Endpoint: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status, one request per member.

    Args:
        net: the network; its scan is asked.
        members: member ids, `PAR::…` of a participant or `MED::…` of a mediator; a row for each, in this order.
        synchronizer: id of the synchronizer; by default that of the coin's rules, by one request of GET /v0/dso.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per member; `found` is False, and the amounts are null, where the synchronizer does not know it.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     ids = lf.load_super_validators(net).participant_id
        ...     traffic = lf.load_traffic(net, ids)
        >>> bool(traffic.found.all())
        True
    """
    form = Form.of(TRAFFIC, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial)
    wanted = _listed(members, "members", routes.MemberId)[: form.limit]
    chosen = None if synchronizer is None else text(synchronizer, "synchronizer", "the id of a synchronizer")
    origin = Origin()
    items: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        with needing(routes.DSO, instead="name the synchronizer: synchronizer="):
            chosen = chosen or _main(origin, net)
        with needing(routes.TRAFFIC, instead="ask the validator's operator"):
            for member in wanted:
                found = origin.body(net.scan, "traffic_status", synchronizer=chosen, member=member)
                items.append(Raw(msgspec.json.encode(found)))
    given: dict[str, list[Any]] = {
        "member": wanted[: len(items)],
        "synchronizer_id": [chosen] * len(items),
        "found": [bytes(item) != b"{}" for item in items],
    }
    batch = read_records(TRAFFIC, items, TRAFFIC.endpoints[0], given=given)
    _check_found(batch)
    return form.frame(batch, origin)


def _check_found(batch: pa.RecordBatch) -> None:
    """An answer for a known member has all three numbers."""
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


def _main(origin: Origin, net: Network) -> str:
    """The synchronizer of the coin's rules."""
    members = origin.body(net.scan, "dso")
    try:
        found = _rules.decode(members.get("amulet_rules", Raw(b"{}"))).domain_id
    except msgspec.DecodeError as error:
        raise DecodeError(f"{routes.DSO}: amulet_rules: {error}", endpoint=str(routes.DSO)) from error
    if not found:
        raise InputError(f"{routes.DSO} does not say where the coin's rules are now; give synchronizer=")
    return found


@overload
def load_validator_faucets(
    net: Network, validators: Iterable[str], *, as_: Literal["pandas"] = ..., **options: Unpack[FormOptions]
) -> pd.DataFrame: ...
@overload
def load_validator_faucets(
    net: Network, validators: Iterable[str], *, as_: Literal["arrow"], **options: Unpack[FormOptions]
) -> pa.Table: ...
@overload
def load_validator_faucets(
    net: Network, validators: Iterable[str], *, as_: Literal["polars"], **options: Unpack[FormOptions]
) -> Any: ...
@suggesting
def load_validator_faucets(
    net: Network,
    validators: Iterable[str],
    *,
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load for which rounds validators collected a faucet coupon: how active they have been.

    Endpoint: GET /v0/validators/validator-faucets; the list is split so that no URL becomes too long.

    Args:
        net: the network; its scan is asked.
        validators: party ids of validators; a row for each, in this order.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Returns:
        One row per validator; `found` is False, and the rest null, for a party without a license.

    Raises:
        InputError: an argument is not valid, or the scan does not serve the route.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     licenses = lf.load_licenses(net)
        ...     faucets = lf.load_validator_faucets(net, licenses.validator)
        >>> bool(faucets.found.all())
        True
    """
    form = Form.of(
        VALIDATOR_FAUCETS, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial
    )
    wanted = _listed(validators, "validators", PartyId)[: form.limit]
    origin = Origin()
    found: dict[str, Raw] = {}
    asked: list[str] = []
    instead = "load_licenses has the first and last round, and those missed"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.FAUCETS, instead=instead):
        for part in _parts(wanted):
            found |= _faucets(origin, net, part)
            asked += part
    items = [found.get(one, Raw(b"{}")) for one in asked]
    given: dict[str, list[Any]] = {"validator": asked, "found": [one in found for one in asked]}
    left_out = ["/validator"]
    batch = read_records(VALIDATOR_FAUCETS, items, VALIDATOR_FAUCETS.endpoints[0], given=given, left_out=left_out)
    return form.frame(batch, origin)


class _Faucets(Struct):
    validator: str


_validator: Final = msgspec.json.Decoder(_Faucets)


def _faucets(origin: Origin, net: Network, validators: list[str]) -> dict[str, Raw]:
    """The answer's items by validator; halves are asked where the server finds the URL too long."""
    try:
        members = origin.body(net.scan, "validator_faucets", validators)
    except StatusError as error:
        if error.status not in {413, 414, 431} or len(validators) == 1:
            raise
        middle = len(validators) // 2
        return _faucets(origin, net, validators[:middle]) | _faucets(origin, net, validators[middle:])
    items = items_of(members, "validatorsReceivedFaucets", str(routes.FAUCETS))
    try:
        return {_validator.decode(item).validator: item for item in items}
    except msgspec.DecodeError as error:
        raise DecodeError(
            f"{routes.FAUCETS}: {error}", endpoint=str(routes.FAUCETS), table=VALIDATOR_FAUCETS.name
        ) from error


def _parts(validators: list[str]) -> list[list[str]]:
    """The list in parts whose query is not too long."""
    parts: list[list[str]] = [[]]
    size = 0
    for one in validators:
        length = len("&validator_ids=") + len(quote(one, safe=""))
        if parts[-1] and size + length > _QUERY:
            parts.append([])
            size = 0
        parts[-1].append(one)
        size += length
    return parts


def _listed(values: Iterable[str], name: str, kind: Any) -> list[str]:
    """A caller's ids, each once, in order.

    Raises:
        InputError: they are no list of such ids, or there is none.
    """
    return list(dict.fromkeys(each(names(values, name), name, kind=kind, least=1)))
