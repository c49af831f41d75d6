"""Loaders of the traffic of members and the faucet rounds of validators, from scan."""

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
from ledgerframes.frames import As, Decimals, Lists
from ledgerframes.interfaces import scan_now as routes
from ledgerframes.interfaces.rules import PartyId, each
from ledgerframes.loaders.amount_form import held
from ledgerframes.loaders.scan_routes import needing
from ledgerframes.loaders.signatures import FormOptions
from ledgerframes.loaders.table_loader import Form, Origin, items_of
from ledgerframes.tables.network_now import TRAFFIC, VALIDATOR_FAUCETS

if TYPE_CHECKING:
    from ledgerframes.network import Network

#: The most characters of a query; servers usually limit a whole URL to 2,048.
_QUERY: Final = 1_800


class TrafficOptions(FormOptions, total=False):
    """The keywords of `load_traffic`, for its overloads; a test compares them with the signature."""

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
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load the extra traffic of participants and mediators: consumed, limit and purchased.

    Endpoint: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status, one request per member.

    Args:
        net: the network; its scan is asked.
        members: member ids, `PAR::…` of a participant or `MED::…` of a mediator; one row for each, in this order.
        synchronizer: id of the synchronizer; by default that of the coin's rules, read with one GET /v0/dso.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per member: found, total_consumed, total_limit and total_purchased in bytes. `found` is False and the
        amounts are null for a member that the synchronizer does not know.

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
    form = Form.of(
        TRAFFIC,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    wanted = _listed(members, "members", routes.MemberId)[: form.limit]
    chosen = None if synchronizer is None else text(synchronizer, "synchronizer", "the id of a synchronizer")
    origin = Origin()
    items: list[Raw] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        with needing(routes.DSO, instead="name the synchronizer: synchronizer="):
            chosen = chosen or _main(origin, net)
        with needing(routes.TRAFFIC, instead="ask the validator's operator"):
            for member in wanted:
                status = origin.body(net.scan.raw.traffic_status, synchronizer=chosen, member=member)
                items.append(Raw(msgspec.json.encode(status)))
    given: dict[str, list[Any]] = {
        "member": wanted[: len(items)],
        "synchronizer_id": [chosen] * len(items),
        "found": [bytes(item) != b"{}" for item in items],
    }
    batch = read_records(TRAFFIC, items, TRAFFIC.endpoints[0], given=given)
    _check_found(batch)
    return form.frame(batch, origin)


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


def _main(origin: Origin, net: Network) -> str:
    """The synchronizer of the coin's rules."""
    members = origin.body(net.scan.raw.dso)
    try:
        synchronizer_id = _rules.decode(members.get("amulet_rules", Raw(b"{}"))).domain_id
    except msgspec.DecodeError as error:
        raise DecodeError(f"{routes.DSO}: amulet_rules: {error}", endpoint=str(routes.DSO)) from error
    if not synchronizer_id:
        raise InputError(f"{routes.DSO} does not name the synchronizer of the coin's rules: give synchronizer=")
    return synchronizer_id


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
    decimals: Decimals | None = None,
    lists: Lists = "tuple",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load how many rounds validators collected faucet coupons for, and which were the first and the last.

    Endpoint: GET /v0/validators/validator-faucets; a long list is split into several requests.

    Args:
        net: the network; its scan is asked.
        validators: party ids of validators; one row for each, in this order.
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the
            network's `connect(decimals=)` says, else `"float"`.
        lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
        limit: load at most this many rows.
        allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

    Returns:
        One row per validator: found, the number of rounds collected and missed, the first and last round. `found` is
        False and the rest null for a party without a license.

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
        VALIDATOR_FAUCETS,
        columns=columns,
        as_=as_,
        decimals=held(net, decimals),
        lists=lists,
        limit=limit,
        allow_partial=allow_partial,
    )
    wanted = _listed(validators, "validators", PartyId)[: form.limit]
    origin = Origin()
    by_validator: dict[str, Raw] = {}
    asked: list[str] = []
    instead = "load_licenses has the first and last round, and those missed"
    with origin.tolerating(allow_partial=form.allow_partial), needing(routes.FAUCETS, instead=instead):
        for part in _parts(wanted):
            by_validator |= _faucets(origin, net, part)
            asked += part
    items = [by_validator.get(validator, Raw(b"{}")) for validator in asked]
    given: dict[str, list[Any]] = {"validator": asked, "found": [validator in by_validator for validator in asked]}
    left_out = ["/validator"]
    batch = read_records(VALIDATOR_FAUCETS, items, VALIDATOR_FAUCETS.endpoints[0], given=given, left_out=left_out)
    return form.frame(batch, origin)


class _Faucets(Struct):
    validator: str


_validator: Final = msgspec.json.Decoder(_Faucets)


def _faucets(origin: Origin, net: Network, validators: list[str]) -> dict[str, Raw]:
    """The answer's items by validator; where the server finds the URL too long, each half of the list is requested."""
    try:
        members = origin.body(net.scan.raw.validator_faucets, validators)
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


def _listed(values: Iterable[str], name: str, kind: Any) -> list[str]:
    """Check a caller's ids and drop duplicates, keeping the order.

    Raises:
        InputError: it is not a list of such ids, or it is empty.
    """
    return list(dict.fromkeys(each(names(values, name), name, kind=kind, least=1)))
