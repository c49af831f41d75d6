"""One holdings summary, asked for in as many parts as the server needs; the loader of summaries calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.decoding.records import read_records
from ledgerframes.decoding.structs import Int64
from ledgerframes.errors import DecodeError, StatusError
from ledgerframes.interfaces.answers import reading
from ledgerframes.interfaces.rules import thousands
from ledgerframes.loaders.table_loader import TableLoad, items_of
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY
from ledgerframes.timestamps import DAY, format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.interfaces.validator import Validator
    from ledgerframes.network import Network

_ENDPOINT: Final = HOLDINGS_SUMMARY.endpoints[0]
_ZERO: Final = '"0.0000000000"'
_AMOUNTS: Final = tuple(column.name for column in HOLDINGS_SUMMARY.columns if column.kind is AMOUNT)
#: What depends on the round; newer servers state none of it.
_OF_A_ROUND: Final = ("computed_as_of_round", *_AMOUNTS[3:])


class _Summary(Struct):
    party_id: str


_party = msgspec.json.Decoder(_Summary)
_number = msgspec.json.Decoder(Int64 | None)
_text = msgspec.json.Decoder(str)


def summary_server(net: Network) -> Validator | Scan:
    """The interface to ask for summaries: the validator, or the scan if the network has no validator."""
    return net.scan if net.settings.scan_url and not net.settings.validator_url else net.validator


class Parts:
    """The answers for parts of a list of parties, all of the snapshot and round that the first one is of."""

    def __init__(self, load: TableLoad, asked: dict[str, Any], as_of_round: int | None) -> None:
        self._net = load.net
        self._origin = load.origin
        self._asked = asked
        self._wanted = parse_timestamp(asked["record_time"])[0]
        self._round = as_of_round
        self._place: tuple[int, int | None] | None = None
        self._items: dict[str, Raw] = {}
        self._answered: set[str] = set()

    @property
    def _record_time(self) -> int:
        return self._wanted if self._place is None else self._place[0]

    @property
    def age(self) -> int:
        """How much older than asked for the snapshot is, as far as the server says so; microseconds."""
        return self._wanted - self._record_time

    @property
    def stated(self) -> bool:
        """Whether the time is the snapshot's own: the server states another than the one asked for, or that one."""
        return self.age != 0 or self._asked["record_time_match"] == "exact"

    @property
    def said(self) -> str:
        """How old the snapshot is, in words."""
        return (
            f"the newest snapshot up to {format_timestamp(self._wanted)} is of {format_timestamp(self._record_time)},"
            f" {self.age // DAY} days before"
        )

    def ask_all(self, parties: list[str]) -> None:
        """Ask for any number of parties."""
        for part in thousands(parties):
            self._ask(part)

    def _ask(self, parties: list[str]) -> None:
        """Ask for these parties, in halves where the server finds that they hold too much."""
        try:
            members = self._origin.body(
                summary_server(self._net).raw.holdings_summary,
                owner_party_ids=parties,
                as_of_round=self._round,
                **self._asked,
            )
        except StatusError as error:
            # Servers refuse more than 1,000 holdings in all, and do not say which parties hold how many.
            if error.status != 400 or "limit" not in error.detail.lower() or len(parties) == 1:
                raise
            middle = len(parties) // 2
            # By halves: the number of holdings is not known, so neither is the right number of parts.
            self._ask(parties[:middle])
            self._ask(parties[middle:])
            return
        self._take(members)
        self._answered.update(parties)

    def _take(self, members: dict[str, Raw]) -> None:
        place = self._place_of(members)
        if self._place is None:
            self._pin(*place)
        # Sums over different snapshots would count a transferred coin twice, or not at all.
        elif self._place != place:
            raise self._broken(f"parts of the party list are of different snapshots or rounds: {self._place}, {place}")
        for item in items_of(members, "summaries", _ENDPOINT):
            with reading(_ENDPOINT, table=HOLDINGS_SUMMARY.name):
                party = _party.decode(item).party_id
            # By party: the order differs from the request, and parties without holdings are missing.
            self._items[party] = item

    def _place_of(self, members: dict[str, Raw]) -> tuple[int, int | None]:
        """The snapshot's time and the round of an answer; what it leaves out is as asked."""
        number, micros = self._round, self._record_time
        with reading(_ENDPOINT, table=HOLDINGS_SUMMARY.name):
            if "computed_as_of_round" in members:
                number = _number.decode(members["computed_as_of_round"])
            if "record_time" in members:
                micros = parse_timestamp(_text.decode(members["record_time"]))[0]
        return micros, number

    def _pin(self, micros: int, number: int | None) -> None:
        """Ask for the rest at the time and round of the first answer: the newest snapshot may change meanwhile."""
        if micros > self._wanted or (micros < self._wanted and self._asked["record_time_match"] == "exact"):
            raise self._broken(f"the answer is of {format_timestamp(micros)}, asked was {self._asked['record_time']}")
        self._place, self._round = (micros, number), number
        if micros != self._wanted:
            self._asked = self._asked | {"record_time": format_timestamp(micros), "record_time_match": "exact"}

    def _broken(self, what: object) -> DecodeError:
        return DecodeError(f"{_ENDPOINT}: {what}", endpoint=_ENDPOINT, table=HOLDINGS_SUMMARY.name)

    def batch(self, parties: list[str], missing: str, *, fees: bool) -> pa.RecordBatch:
        """A row for each party, in order.

        Args:
            parties: all that were asked for.
            missing: what a party without holdings gets: `"null"`, `"zero"` or `"drop"`.
            fees: False leaves what depends on the round null.
        """
        rows = [party for party in parties if missing != "drop" or party in self._items]
        stated = _AMOUNTS if self._round is not None else _AMOUNTS[:3]
        zeros = stated if missing == "zero" else ()
        given = {
            "record_time": [self._record_time] * len(rows),
            "migration_id": [self._asked["migration_id"]] * len(rows),
            "computed_as_of_round": [self._round] * len(rows),
            "found": [party in self._items if party in self._answered else None for party in rows],
        }
        items = [self._items.get(party) or _nothing(party, zeros if party in self._answered else ()) for party in rows]
        read = read_records(HOLDINGS_SUMMARY, items, _ENDPOINT, given=given)
        if fees:
            return read
        columns = [
            pa.nulls(read.num_rows, field.type) if field.name in _OF_A_ROUND else read.column(field.name)
            for field in read.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=read.schema)


def _nothing(party: str, zeros: tuple[str, ...]) -> Raw:
    """The item of a party that holds nothing."""
    members = {"party_id": Raw(msgspec.json.encode(party))} | {name: Raw(_ZERO.encode()) for name in zeros}
    return Raw(msgspec.json.encode(members))
