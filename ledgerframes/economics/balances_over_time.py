"""`balances_over_time`: what each party holds, at regular times, in one pass over the events."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_whole
from ledgerframes.analysis.holdings import AMOUNTS
from ledgerframes.arguments import duration, names, shown
from ledgerframes.economics.coins import coin_rows
from ledgerframes.economics.expiry import expiry_of
from ledgerframes.economics.form import by_party, given
from ledgerframes.economics.reading.amounts import amounts
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.models import COINS, OPEN_ROUND
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import parsed
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.rounds import NumberedRound
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals
from ledgerframes.paging.window import Duration
from ledgerframes.tables.coin_stocks import BALANCES_OVER_TIME
from ledgerframes.tables.kinds import TIME

_MOST_TIMES: Final = 10_000_000
_MOST_ROWS: Final = 50_000_000
_BLOCK: Final = 100_000
_ZERO: Final = Decimal(0)
#: Of unlocked coins and of locked ones: amounts; of coins whose fee still grows, rates and rates times rounds of
#: creation; amounts of coins whose fee has reached them.
_SUMS: Final = 4
Times = np.ndarray[Any, np.dtype[np.int64]]
Sums = list[Decimal]


@by_party
def balances_over_time(
    events: Any,
    *,
    every: Duration = "1D",
    parties: Iterable[str] | None = None,
    opening: Any = None,
    as_: As = "pandas",
    decimals: Decimals | None = None,
) -> Any:
    """Compute the seven amounts of a holdings summary at regular times (contract: Resources, HoldingsSummary).

    Each row is what `holdings_from_events` computes for its time, with fees for the earliest round open then; all are
    computed in one pass. Fees are notional: charged only when a contract expires.

    Args:
        events: events of `load_events`, a `History` or a `Store`, from ledger begin; see `coins`.
        every: the times are the multiples of it (of days: midnight in UTC) from the first event to the last, and the
            last event's.
        parties: party ids, with a row for each at each time; by default all owners, each from its first coin on.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them, or
            `"nothing"` if there were none.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per time and party, in this order, with the columns of `lf.describe("balances_over_time")`: amounts in
        coin, times in UTC. Fees are null while no round is known to be open.

    Raises:
        InputError: an argument is not valid, columns are missing, or there would be more than 50 million rows.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     balances = lf.balances_over_time(lf.load_events(net), every="1min")
        >>> bool((balances.total_coin_holdings >= 0).all())
        True
    """
    source, notes = source_of_events(events), NotUnderstood()
    step = duration(every, "every")
    wanted = None if parties is None else names(parties, "parties")
    check_whole(source.proof, name="events", opening=opening)
    times = _times(source, step, every)
    open_rounds = _open_rounds(source, opening, times, notes)
    changes = _changes(_coins(source, opening, notes, wanted), times, open_rounds)
    listed = sorted(changes) if wanted is None else list(dict.fromkeys(wanted))
    if len(listed) * len(times) > _MOST_ROWS:
        raise InputError(
            f"every={shown(every)} is not valid: {len(times):,} times of {len(listed):,} parties are too many rows;"
            " give a longer interval, or parties="
        )
    rows = _table(changes, listed, times, open_rounds, from_start=wanted is not None)
    return given(rows, BALANCES_OVER_TIME, source, notes, as_=as_, decimals=decimals)


def _times(source: Source, step: int, every: Duration) -> Times:
    """The times in microseconds, in order."""
    recorded = source.all_rows(("record_time",))["record_time"].cast(pa.int64())
    if not len(recorded):
        return np.empty(0, np.int64)
    first, last = pc.min(recorded).as_py(), pc.max(recorded).as_py()
    if (last - first) // step > _MOST_TIMES:
        raise InputError(
            f"every={shown(every)} is not valid: give a longer interval, for {_MOST_TIMES:,} times at most"
        )
    ends = np.arange(-(-first // step) * step, last + 1, step, dtype=np.int64)
    return ends if len(ends) and ends[-1] == last else np.append(ends, last)


def _places(times: Times, moments: Any, *, missing: int) -> Times:
    """The first time at or after each moment; `missing` for null."""
    known = pc.fill_null(moments.cast(pa.int64()), 0).to_numpy()
    places: Times = np.searchsorted(times, known, side="left")
    return np.where(pc.is_valid(moments).to_numpy(), places, missing)


def _open_rounds(source: Source, opening: Any, times: Times, notes: NotUnderstood) -> list[int | None]:
    """The earliest round that is open at each time."""
    lives = Lifetimes.of(source, [OPEN_ROUND], opening)
    begun = _places(times, lives.created["record_time"], missing=0)
    ended = _places(times, pa.chunked_array([lives.ended("record_time")]), missing=len(times))
    contracts = parsed(lives.created["payload"], NumberedRound, [OPEN_ROUND] * lives.created.num_rows, notes)
    opened: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for contract, start, end in zip(contracts, begun.tolist(), ended.tolist(), strict=True):
        if contract is not None and start < end:
            opened[start].append((contract.round.number, end))
    heap: list[tuple[int, int]] = []
    open_rounds: list[int | None] = []
    for place in range(len(times)):
        for coin in opened.get(place, ()):
            heapq.heappush(heap, coin)
        while heap and heap[0][1] <= place:
            heapq.heappop(heap)
        open_rounds.append(heap[0][0] if heap else None)
    return open_rounds


def _coins(source: Source, opening: Any, notes: NotUnderstood, wanted: tuple[str, ...] | None) -> pa.Table:
    lives = Lifetimes.of(source, COINS, opening)
    rows = coin_rows(lives, notes, {"ended_at": lives.ended("record_time")})
    return rows if wanted is None else rows.filter(pc.is_in(rows["owner"], pa.array(wanted, pa.string())))


@dataclass(frozen=True)
class Caps:
    """From which time on the earliest open round is at least a number; rounds that are open never fall back."""

    rounds: list[int | None]
    steps: Times
    rising: bool

    @classmethod
    def of(cls, rounds: list[int | None]) -> Caps:
        """Prepare to search."""
        known = [number for number in rounds if number is not None]
        steps = np.array([-(2**63) if number is None else number for number in rounds], np.int64)
        return cls(rounds, np.maximum.accumulate(steps) if len(steps) else steps, known == sorted(known))

    def switches(self, cap: int | None, start: int, end: int) -> Iterator[tuple[int, bool]]:
        """The times between two at which a coin's fee reaches the coin (true) or grows again (false)."""
        if cap is None:
            return
        if self.rising:
            place = max(int(np.searchsorted(self.steps, cap, side="left")), start)
            if place < end:
                yield place, True
            return
        reached = False
        for place in range(start, end):
            number = self.rounds[place]
            if number is not None and (number >= cap) != reached:
                reached = not reached
                yield place, reached


def _changes(coins: pa.Table, times: Times, rounds: list[int | None]) -> dict[str, dict[int, Sums]]:
    """For each owner, how its sums change at which times."""
    begun = _places(times, coins["record_time"], missing=0).tolist()
    ended = _places(times, coins["ended_at"], missing=len(times)).tolist()
    columns = (coins[name].to_pylist() for name in ("owner", "amount", "created_round", "rate_per_round", "locked"))
    expiries = expiry_of(coins).to_pylist()
    caps = Caps.of(rounds)
    changes: dict[str, dict[int, Sums]] = {}
    for owner, amount, created, rate, locked, cap, start, end in zip(*columns, expiries, begun, ended, strict=True):
        if start >= len(times):
            continue
        own = changes.setdefault(owner, {})
        if start >= end:
            own.setdefault(start, [_ZERO] * 2 * _SUMS)
            continue
        first = _SUMS * locked
        growing = (amount, rate, rate * created, _ZERO)
        _add(own, start, first, growing, 1)
        reached = False
        for place, now in caps.switches(cap, start, end):
            reached = now
            _add(own, place, first, (_ZERO, rate, rate * created, -amount), -1 if now else 1)
        if end < len(times):
            _add(own, end, first, (amount, _ZERO, _ZERO, amount) if reached else growing, -1)
    return changes


def _add(own: dict[int, Sums], place: int, first: int, values: tuple[Decimal, ...], sign: int) -> None:
    sums = own.setdefault(place, [_ZERO] * 2 * _SUMS)
    for number, value in enumerate(values, first):
        sums[number] += sign * value


def _table(
    changes: dict[str, dict[int, Sums]], parties: list[str], times: Times, rounds: list[int | None], *, from_start: bool
) -> pa.Table:
    parts = list(_parts(changes, parties, times, rounds, from_start=from_start))
    schema = pa.schema([(name, BALANCES_OVER_TIME.schema.field(name).type) for name in BALANCES_OVER_TIME.names])
    whole = pa.concat_tables([schema.empty_table(), *parts])
    return whole.sort_by([("time", "ascending"), ("party_id", "ascending")])


def _parts(
    changes: dict[str, dict[int, Sums]], parties: list[str], times: Times, rounds: list[int | None], *, from_start: bool
) -> Iterator[pa.Table]:
    """The rows, a block of parties at a time."""
    owners: list[str] = []
    places: list[int] = []
    cells: list[tuple[Decimal | None, ...]] = []
    for party in parties:
        own = changes.get(party, {})
        sums = [_ZERO] * 2 * _SUMS
        for place in range(0 if from_start or not own else min(own), len(times)):
            if place in own:
                sums = [before + change for before, change in zip(sums, own[place], strict=True)]
            owners.append(party)
            places.append(place)
            cells.append(_amounts(sums, rounds[place]))
        if len(owners) >= _BLOCK:
            yield _block(owners, places, cells, times)
            owners, places, cells = [], [], []
    yield _block(owners, places, cells, times)


def _block(owners: list[str], places: list[int], cells: list[tuple[Decimal | None, ...]], times: Times) -> pa.Table:
    moments = pa.array(times[places] if places else [], pa.int64()).cast(TIME.arrow)
    columns = {"time": moments, "party_id": pa.array(owners, pa.string())}
    for number, name in enumerate(AMOUNTS):
        columns[name] = amounts(cell[number] for cell in cells)
    return pa.table(columns)


def _amounts(sums: Sums, number: int | None) -> tuple[Decimal | None, ...]:
    """The seven amounts, in the order of a summary."""
    unlocked, locked = sums[0], sums[_SUMS]
    if number is None:
        return (unlocked, locked, unlocked + locked, None, None, None, None)
    fees, locked_fees = (rates * number - since + reached for _, rates, since, reached in (sums[:_SUMS], sums[_SUMS:]))
    return (unlocked, locked, unlocked + locked, fees, locked_fees, fees + locked_fees, unlocked - fees)
