"""The loader of holdings summaries, requested in as many parts as the server needs."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import choice, whole_number
from ledgerframes.decoding.records import read_records
from ledgerframes.decoding.structs import Int64
from ledgerframes.errors import InputError, NotFoundError, SnapshotWarning, StatusError
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.rules import PartyId, distinct, thousands
from ledgerframes.interfaces.validator import HOLDINGS_SUMMARY_OF_SCAN, HOLDINGS_SUMMARY_V1_OF_SCAN
from ledgerframes.loaders.declaring import loader
from ledgerframes.loaders.extent import first_cursors, newest_snapshot
from ledgerframes.loaders.table_loader import TableLoad, items_of, needing
from ledgerframes.paging.cursor import Cursor, When
from ledgerframes.tables.kinds import AMOUNT
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY
from ledgerframes.timestamps import DAY, format_timestamp, parse_timestamp, to_micros

if TYPE_CHECKING:
    from ledgerframes.network import Network

_ENDPOINT: Final = HOLDINGS_SUMMARY.endpoints[0]
_ZERO: Final = "0.0000000000"
_AMOUNTS: Final = tuple(column.name for column in HOLDINGS_SUMMARY.columns if column.kind is AMOUNT)
#: The amounts that depend on the round; newer servers state none of them.
_OF_A_ROUND: Final = ("computed_as_of_round", *_AMOUNTS[3:])


_party_of: Final = reads(str, "party_id")
_number = msgspec.json.Decoder(Int64 | None)
_text = msgspec.json.Decoder(str)


@dataclass
class Parts:
    """The answers for parts of a list of parties, all of the snapshot and round of the first one.

    Attributes:
        load: the load.
        wanted: the requested time.
        exact: whether it has to be that of a snapshot.
        migration_id: the requested migration.
        number: the round to compute fees for; None is the server's choice.
        pinned: whether a snapshot has answered for some of the parties.
    """

    load: TableLoad
    wanted: int
    exact: bool
    migration_id: int
    number: int | None
    pinned: bool = False
    _items: dict[str, Raw] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.record_time = self.wanted

    @property
    def stated(self) -> bool:
        """Whether the time is the snapshot's own: the server states another one, or an exact one was requested."""
        return self.exact or self.record_time != self.wanted

    def ask(self, parties: list[str]) -> None:
        """Request these parties, in halves if the server finds their holdings too large."""
        net = self.load.net
        asked = net.scan if net.settings.scan_url and not net.settings.validator_url else net.validator
        try:
            members = self.load.origin.body(
                asked.raw.holdings_summary,
                owner_party_ids=parties, as_of_round=self.number, migration_id=self.migration_id,
                record_time=format_timestamp(self.record_time),
                record_time_match="exact" if self.stated else "at_or_before",
            )  # fmt: skip
        except StatusError as error:
            # Servers refuse more than 1,000 holdings in total, and do not report which parties have how many.
            if error.status != 400 or "limit" not in error.detail.lower():
                raise
            if len(parties) == 1:
                raise StatusError(
                    f"{_ENDPOINT}: {parties[0]} alone has more coins than the server adds up: {error.detail}. What to"
                    " do: lf.load_coins lists them",
                    status=error.status, detail=error.detail, server=error.server,
                ) from error  # fmt: skip
            middle = len(parties) // 2
            # By halves: the number of holdings is not known, so neither is the right number of parts.
            self.ask(parties[:middle])
            self.ask(parties[middle:])
            return
        self._take(members)
        self._answered.update(parties)

    def _take(self, members: dict[str, Raw]) -> None:
        # Members that are missing are as requested.
        micros, number = here = self.record_time, self.number
        with reading(_ENDPOINT, table=HOLDINGS_SUMMARY.name):
            if "computed_as_of_round" in members:
                number = _number.decode(members["computed_as_of_round"])
            if "record_time" in members:
                micros = parse_timestamp(_text.decode(members["record_time"]))[0]
            # Sums over different snapshots would count a transferred coin twice, or not at all.
            if self.pinned and here != (micros, number):
                parts = f"{here}, {(micros, number)}"
                raise ValueError(f"parts of the party list belong to different snapshots or rounds: {parts}")
            if micros > self.wanted or (micros < self.wanted and self.exact):
                raise ValueError(
                    f"the answer is from {format_timestamp(micros)}, asked was {format_timestamp(self.wanted)}"
                )
            migration_id = _number.decode(members.get("migration_id", Raw(b"null")))
            if migration_id not in {None, self.migration_id}:
                raise ValueError(f"the answer is of migration {migration_id}, asked was {self.migration_id}")
            sent = items_of(members, "summaries", _ENDPOINT)
            items = {_party_of(item): item for item in sent}
            if len(items) < len(sent):
                counted = Counter(map(_party_of, sent))
                raise ValueError(f"{counted.most_common(1)[0][0]} comes twice: which of its sums counts is unknown")
        # The rest is asked at the time and round of the first answer: the newest snapshot may change meanwhile.
        self.record_time, self.number, self.pinned = micros, number, True
        # By party: the order differs from the request, and parties without holdings are missing.
        self._items |= items

    def batch(self, parties: list[str], missing: str, *, fees: bool) -> pa.RecordBatch:
        """A row for each party, in order.

        Args:
            parties: all requested parties.
            missing: the value for a party without holdings: `"null"`, `"zero"` or `"drop"`.
            fees: False leaves what depends on the round null.
        """
        rows = [party for party in parties if missing != "drop" or party in self._items]
        stated = _AMOUNTS if self.number is not None else _AMOUNTS[:3]
        zeros = stated if missing == "zero" else ()
        supplied: dict[str, list[Any]] = {
            "record_time": [self.record_time] * len(rows),
            "migration_id": [self.migration_id] * len(rows),
            "computed_as_of_round": [self.number] * len(rows),
            "found": [party in self._items if party in self._answered else None for party in rows],
        }
        items = [self._items.get(party) or _nothing(party, zeros if party in self._answered else ()) for party in rows]
        read = read_records(HOLDINGS_SUMMARY, items, _ENDPOINT, supplied=supplied)
        for name in () if fees else _OF_A_ROUND:
            place, column = read.schema.get_field_index(name), read.schema.field(name)
            read = read.set_column(place, column, pa.nulls(read.num_rows, column.type))
        return read


def _nothing(party: str, zeros: tuple[str, ...]) -> Raw:
    """The item of a party without holdings."""
    return Raw(msgspec.json.encode({"party_id": party} | dict.fromkeys(zeros, _ZERO)))


# Snapshots are usually hours apart; a month means a wrong migration or an idle server.
_MONTH: Final = 31 * DAY
#: A snapshot's time, None for now, and the round to compute fees for; None is the server's choice.
_Ask = tuple[int | None, int | None]


@loader(HOLDINGS_SUMMARY)
def load_holdings_summary(
    load: TableLoad,
    parties: Iterable[str],
    *,
    record_time: When | Sequence[When] | None = None,
    migration_id: int | None = None,
    match: Literal["exact", "at_or_before"] = "at_or_before",
    as_of_round: int | Sequence[int] | None = None,
    missing: Literal["null", "zero", "drop"] = "null",
) -> Any:
    """Load parties' holdings at a snapshot (contract: POST /v0/scan-proxy/holdings/summary).

    The fees are notional: they are charged only when a contract expires, not on transfers. Do not subtract them. Newer
    servers serve no fees, no round and no available amount: those columns are null.

    Args:
        net: the network; its validator is asked, with a token, or its scan if there is no validator.
        parties: party ids; a row for each different one, in this order, for every time and round. More than 1,000, or
            fewer that hold too much for one answer, take several requests, all of one snapshot.
        record_time: the snapshot's time, or a list of times; by default just after the scan's newest snapshot, or now
            if there is no scan.
        migration_id: the snapshot's migration id; by default that of the newest snapshot up to each time, from the
            migrations that the scan shows.
        match: `"at_or_before"` takes the newest snapshot up to `record_time`, `"exact"` needs one at that instant.
        as_of_round: round to compute fees for; for one time also a list of rounds, for several times one round for
            each. By default the server takes the earliest round that is open now, not at the snapshot; so for several
            times the fee columns and the round are null without it.
        missing: a party without holdings has null amounts (`"null"`), zeros (`"zero"`) or no row (`"drop"`); `found`
            is False.

    Returns:
        One row per party, time and round. `attrs["snapshot_time"]` says whether `record_time` is the snapshot's own or
        only what was asked for: a server that repeats the question does not say how old its snapshot is.

    Warns:
        SnapshotWarning: a snapshot is more than a month older than requested, or the fees of several times are left
            out.

    Raises:
        InputError: an argument breaks a rule, there is no scan to find the migration id, or the scan, asked as there
            is no validator, serves neither route.
        NotFoundError: there is no such snapshot.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     parties = lf.load_licenses(net, limit=2).validator
        ...     summary = lf.load_holdings_summary(net, parties, columns=["party_id", "total_coin_holdings"])
        >>> summary.shape
        (2, 2)
    """
    wanted = distinct(parties, "parties", PartyId)
    choice(missing, "missing", ("null", "zero", "drop"))
    choice(match, "match", ("exact", "at_or_before"))
    if match == "exact" and record_time is None:
        raise InputError(
            'match="exact" needs the time of a snapshot: give record_time=, or leave match= out for the newest'
        )
    given, fees_of_now = _asks(record_time, as_of_round)
    chosen = None if migration_id is None else whole_number(migration_id, "migration_id", least=0, most=2**63 - 1)
    of_now = any(micros is None for micros, _ in given)
    firsts = _migrations(load.net) if chosen is None or (of_now and load.net.settings.scan_url) else []
    now = _now(load.net, firsts) if of_now else 0
    asks = [(now if micros is None else micros, number) for micros, number in given]
    answers: list[Parts] = []
    instead = "a validator answers too: validator_url= and a token"
    served = needing(HOLDINGS_SUMMARY_OF_SCAN, HOLDINGS_SUMMARY_V1_OF_SCAN, instead=instead)
    with load.asking(), nullcontext() if load.net.settings.validator_url else served:
        for micros, number in asks:
            begun = [first.migration_id for first in firsts if first.micros <= micros]
            ids = [chosen] if chosen is not None else begun or [firsts[-1].migration_id]
            tries = [Parts(load, micros, match == "exact", one, number) for one in ids]
            _ask(answers, tries, wanted[: load.limit])
    for answer in answers:
        age = answer.wanted - answer.record_time
        if age > _MONTH:
            warnings.warn(
                f"the newest snapshot up to {format_timestamp(answer.wanted)} is from"
                f" {format_timestamp(answer.record_time)}, {age // DAY} days before; check record_time= and"
                " migration_id=",
                SnapshotWarning, stacklevel=4,
            )  # fmt: skip
    if fees_of_now:
        warnings.warn(
            f"the fees of {len(asks)} snapshots are left out: a server computes them for the round that is open now;"
            " give as_of_round= with one round for each time",
            SnapshotWarning, stacklevel=4,
        )  # fmt: skip
    batch = pa.concat_batches([answer.batch(wanted[: load.limit], missing, fees=not fees_of_now) for answer in answers])
    # Some servers repeat the requested time, others state the snapshot's own.
    stated = all(answer.stated for answer in answers)
    whose = "the snapshot's own" if stated else "as asked; the server does not say how old its snapshot is"
    return load.frame(batch, snapshot_time=whose)


def _asks(record_time: Any, as_of_round: Any) -> tuple[list[_Ask], bool]:
    """The requests to send, and whether the fees would be current ones instead of those of the times."""
    moments = [None if given is None else to_micros(given, "record_time") for given in _each(record_time)]
    single = not isinstance(as_of_round, Iterable)
    whole = partial(whole_number, name="as_of_round", least=0, most=2**63 - 1)
    rounds = [None if number is None else whole(number) for number in _each(as_of_round)]
    if not moments or not rounds:
        raise InputError(
            "record_time and as_of_round name no time and no round; leave them out for now and the default"
        )
    if single or len(moments) == 1:
        asks = [(micros, number) for micros in moments for number in rounds]
        return list(dict.fromkeys(asks)), as_of_round is None and len(moments) > 1
    if len(rounds) != len(moments):
        raise InputError(
            f"as_of_round has {len(rounds)} rounds for {len(moments)} times; give one round for each time, in the same"
            " order"
        )
    return list(dict.fromkeys(zip(moments, rounds, strict=True))), False


def _each(value: Any) -> list[Any]:
    """One value, or each of several."""
    several = not isinstance(value, str) and isinstance(value, Iterable)
    return list(value) if several else [value]


def _ask(answers: list[Parts], tries: Sequence[Parts], parties: list[str]) -> None:
    """Add the holdings in the first of some migrations that has such a snapshot: a new one has none for some hours.

    Raises:
        NotFoundError: none has.
    """
    for parts in tries:
        answers.append(parts)  # what came stays, also if the rest does not
        try:
            for part in thousands(parties):
                parts.ask(part)
        except NotFoundError as error:
            # A snapshot that is gone by now is not the same as one that an earlier migration has.
            if error.unknown_route or parts.pinned:
                raise
            if parts is tries[-1]:
                among = " or ".join(str(one.migration_id) for one in tries)
                when = f"{'at' if parts.exact else 'at or before'} {format_timestamp(parts.wanted)}"
                raise NotFoundError(
                    f"{_ENDPOINT}: the server has no snapshot of migration {among} {when}. What to do:"
                    " lf.snapshot_times lists those that a scan has",
                    status=error.status, detail=error.detail, server=error.server,
                ) from error  # fmt: skip
            answers.pop()
        else:
            return


def _now(net: Network, firsts: Sequence[Cursor]) -> int:
    """Just after the scan's newest snapshot, so that a replay asks for the same; this machine's time without any.

    A server that states the snapshot's own time then differs from one that repeats what was asked.
    """
    shown = (newest_snapshot(net.scan, first.migration_id) for first in firsts)
    newest = next((micros for micros in shown if micros is not None), None)
    return time.time_ns() // 1000 if newest is None else newest + 1


def _migrations(net: Network) -> list[Cursor]:
    """Where each migration begins, the newest first."""
    if not net.settings.scan_url:
        raise InputError(
            "migration_id is needed: a validator alone does not state it; give migration_id=, or scan_url= too"
        )
    firsts = sorted(first_cursors(net.scan.update_pages), reverse=True)
    if not firsts:
        raise InputError("migration_id is needed: the scan shows no update yet; give migration_id=")
    return firsts
