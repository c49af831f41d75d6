"""The loader of holdings summaries."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

import msgspec
import pandas as pd
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.arguments import choice, suggesting, whole_number
from ledgerframes.decoding.records import read_records
from ledgerframes.decoding.wire import Int64
from ledgerframes.errors import DecodeError, InputError, StatusError
from ledgerframes.instants import format_instant, parse_instant, to_micros
from ledgerframes.loaders.contracts import party_list
from ledgerframes.loaders.frames import As, Decimals
from ledgerframes.loaders.listing import Form, FormOptions, Origin, items_of
from ledgerframes.loaders.probes import latest_migration
from ledgerframes.paging.window import When
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY

if TYPE_CHECKING:
    from ledgerframes.network import Network

_ENDPOINT: Final = HOLDINGS_SUMMARY.endpoints[0]
_ZERO: Final = '"0.0000000000"'


class _Summary(Struct):
    party_id: str


_party = msgspec.json.Decoder(_Summary)
_number = msgspec.json.Decoder(Int64 | None)
_text = msgspec.json.Decoder(str)


class HoldingsOptions(FormOptions, total=False):
    """The keywords of `load_holdings_summary`, for its overloads; a test holds both together."""

    record_time: When | Sequence[When] | None
    migration_id: int | None
    match: Literal["exact", "at_or_before"]
    as_of_round: int | Sequence[int] | None
    missing: Literal["null", "zero", "drop"]


@overload
def load_holdings_summary(
    net: Network, parties: Iterable[str], *, as_: Literal["pandas"] = ..., **options: Unpack[HoldingsOptions]
) -> pd.DataFrame: ...
@overload
def load_holdings_summary(
    net: Network, parties: Iterable[str], *, as_: Literal["arrow"], **options: Unpack[HoldingsOptions]
) -> pa.Table: ...
@overload
def load_holdings_summary(
    net: Network, parties: Iterable[str], *, as_: Literal["polars"], **options: Unpack[HoldingsOptions]
) -> Any: ...
@suggesting
def load_holdings_summary(
    net: Network,
    parties: Iterable[str],
    *,
    record_time: When | Sequence[When] | None = None,
    migration_id: int | None = None,
    match: Literal["exact", "at_or_before"] = "at_or_before",
    as_of_round: int | Sequence[int] | None = None,
    missing: Literal["null", "zero", "drop"] = "null",
    columns: Iterable[str] | None = None,
    as_: As = "pandas",
    decimals: Decimals = "object",
    limit: int | None = None,
    allow_partial: bool = False,
) -> Any:
    """Load what parties hold at a snapshot (contract: POST /v0/scan-proxy/holdings/summary).

    The fees are notional: they are charged when a contract expires, not on transfers. Do not subtract them.

    Args:
        net: the network; its validator is asked, with a token.
        parties: party ids; a row each, in this order, for every time and round. A list that the server finds too long
            is split.
        record_time: the snapshot's time, or a list of times; now by default.
        migration_id: the snapshot's migration id; by default the newest that the scan shows.
        match: `"at_or_before"` takes the newest snapshot up to `record_time`, `"exact"` needs one at that instant.
        as_of_round: round to compute fees for, or a list of rounds; the earliest open one by default.
        missing: a party without holdings has null amounts (`"null"`), zeros (`"zero"`) or no row (`"drop"`).
        columns: the columns to keep, in this order; all by default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.
        limit: how many rows at most.
        allow_partial: return what there is, with `attrs["complete"]` False, when a fault ends the load early.

    Raises:
        InputError: an argument breaks a rule, or there is no scan to find the migration id.
        NotFoundError: there is no such snapshot.
    """
    form = Form.of(
        HOLDINGS_SUMMARY, columns=columns, as_=as_, decimals=decimals, limit=limit, allow_partial=allow_partial
    )
    wanted = party_list(parties)
    choice(missing, "missing", ("null", "zero", "drop"))
    choice(match, "match", ("exact", "at_or_before"))
    times = _each(record_time)
    rounds = [
        None if one is None else whole_number(one, "as_of_round", least=0, most=2**63 - 1) for one in _each(as_of_round)
    ]
    if not times or not rounds:
        raise InputError(
            "record_time and as_of_round name no time and no round; leave them out for now and the default"
        )
    moments = [time.time_ns() // 1000 if one is None else to_micros(one, "record_time") for one in times]
    chosen = None if migration_id is None else whole_number(migration_id, "migration_id", least=0, most=2**63 - 1)
    asked = {"migration_id": _migration(net) if chosen is None else chosen, "record_time_match": match}
    origin = Origin()
    answers: list[_Answers] = []
    with origin.tolerating(allow_partial=form.allow_partial):
        for micros, one in product(moments, rounds):
            answers.append(_Answers(net, origin, {"record_time": format_instant(micros), **asked}, one))
            answers[-1].ask(wanted[: form.limit])
    return form.frame(pa.concat_batches([one.batch(wanted[: form.limit], missing) for one in answers]), origin)


def _each(value: Any) -> list[Any]:
    """One value, or each of several."""
    several = not isinstance(value, str) and isinstance(value, Iterable)
    return list(value) if several else [value]


def _migration(net: Network) -> int:
    if not net.settings.scan_url:
        raise InputError("migration_id is needed: this network has no scan to find the newest one; give migration_id=")
    found = latest_migration(net.scan)
    if found is None:
        raise InputError("migration_id is needed: the scan shows no update yet; give migration_id=")
    return found


class _Answers:
    """The answers for parts of a list of parties."""

    def __init__(self, net: Network, origin: Origin, asked: dict[str, Any], as_of_round: int | None) -> None:
        self._net = net
        self._origin = origin
        self._asked = asked
        self._round = as_of_round
        self._record_time: int | None = None
        self._items: dict[str, Raw] = {}

    def ask(self, parties: list[str]) -> None:
        """Ask for these parties, in halves where the server finds them too many."""
        try:
            members = self._origin.body(
                self._net.validator, "holdings_summary", owner_party_ids=parties, as_of_round=self._round, **self._asked
            )
        except StatusError as error:
            if error.status != 400 or "limit" not in error.detail.lower() or len(parties) == 1:
                raise
            middle = len(parties) // 2
            self.ask(parties[:middle])
            self.ask(parties[middle:])
            return
        self._take(members)

    def _take(self, members: dict[str, Raw]) -> None:
        try:
            if "computed_as_of_round" in members:
                self._round = _number.decode(members["computed_as_of_round"])
            if "record_time" in members:
                self._record_time = parse_instant(_text.decode(members["record_time"]))[0]
        except (msgspec.DecodeError, ValueError) as error:
            raise DecodeError(f"{_ENDPOINT}: {error}", endpoint=_ENDPOINT, table=HOLDINGS_SUMMARY.name) from error
        for item in items_of(members, "summaries", _ENDPOINT):
            try:
                party = _party.decode(item).party_id
            except msgspec.DecodeError as error:
                raise DecodeError(f"{_ENDPOINT}: {error}", endpoint=_ENDPOINT, table=HOLDINGS_SUMMARY.name) from error
            self._items[party] = item

    def batch(self, parties: list[str], missing: str) -> pa.RecordBatch:
        """A row a party, in order."""
        rows = [party for party in parties if missing != "drop" or party in self._items]
        items = [self._items.get(party) or _nothing(party, zero=missing == "zero") for party in rows]
        instant = self._record_time
        if instant is None:
            instant = parse_instant(self._asked["record_time"])[0]
        given = {
            "record_time": [instant] * len(rows),
            "migration_id": [self._asked["migration_id"]] * len(rows),
            "computed_as_of_round": [self._round] * len(rows),
        }
        return read_records(HOLDINGS_SUMMARY, items, _ENDPOINT, given=given)


def _nothing(party: str, *, zero: bool) -> Raw:
    """The item of a party that holds nothing."""
    amounts = [column.name for column in HOLDINGS_SUMMARY.columns if column.kind is AMOUNT] if zero else []
    members = {"party_id": Raw(msgspec.json.encode(party))} | {name: Raw(_ZERO.encode()) for name in amounts}
    return Raw(msgspec.json.encode(members))
