"""`validator_liveness`: for which rounds validators reported that they are alive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.models import FAUCET, LICENSE, LIVENESS, Int64, Round
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import column, parsed
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.reward_kinds import FaucetCoupon
from ledgerframes.economics.rounds import NUMBERS, rounds_of
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.network_activity import VALIDATOR_LIVENESS

#: What ends a license for good; every other choice makes it anew.
GONE = ("ValidatorLicense_Cancel", "ValidatorLicense_Withdraw")


class FaucetState(Struct, frozen=True, gc=False):
    """The rounds that a validator reported for."""

    first: Round = member(name="firstReceivedFor")
    last: Round = member(name="lastReceivedFor")
    missed: Int64 = member(name="numCouponsMissed")


class Metadata(Struct, frozen=True, gc=False):
    """What a validator says of itself."""

    version: str | None = None


class License(Struct, frozen=True, gc=False):
    """A validator's license."""

    validator: str
    sponsor: str
    faucet: FaucetState | None = member(name="faucetState", default=None)
    metadata: Metadata | None = None


@dataclass
class Liveness:
    """What is known of one validator: its latest license, and the latest round of its records and coupons."""

    license: License | None = None
    round: int | None = None

    @property
    def last_round(self) -> int | None:
        """The last round that it reported for."""
        faucet = None if self.license is None else self.license.faucet
        known = [
            number for number in (self.round, None if faucet is None else faucet.last.number) if number is not None
        ]
        return max(known, default=None)


@from_opening
def validator_liveness(
    events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Tell for each validator for which rounds it reported that it is alive, and for how many it is silent.

    A license is created anew at every change; the latest counts. Validators whose license lies before the events are
    known by their liveness records and faucet coupons alone, unless `opening` has the license. A license that was
    cancelled or withdrawn has no row; `attrs["ended"]` counts these.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per validator, by party, with the columns of `lf.describe("validator_liveness")`: numbers of rounds.
        `silent_for` counts from the latest round that the events show.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     liveness = lf.validator_liveness(lf.load_events(net))
        >>> liveness.validator.is_unique
        True
    """
    source, notes = source_of_events(events), NotUnderstood()
    licenses, ended = _licenses(source, opening, notes)
    _add_records(source, opening, licenses, notes)
    latest = max(
        [
            *rounds_of(source, opening, notes, NUMBERS).cells,
            *(row.last_round for row in licenses.values() if row.last_round is not None),
        ],
        default=None,
    )
    rows = [_row(validator, licenses[validator], latest) for validator in sorted(licenses)]
    schema = VALIDATOR_LIVENESS.schema
    data = {name: column([row[name] for row in rows], schema.field(name).type) for name in VALIDATOR_LIVENESS.names}
    return given(pa.table(data), VALIDATOR_LIVENESS, source, notes, as_=as_, decimals=decimals, ended=ended)


def _licenses(source: Source, opening: Any, notes: NotUnderstood) -> tuple[dict[str, Liveness], int]:
    """The latest license of each validator, and how many ended for good."""
    lives = Lifetimes.of(source, [LICENSE], opening)
    numbered = lives.created.append_column("ended_by", lives.ended("choice"))
    # What began before the events has neither, and comes first.
    order = pa.table(
        {name: pc.fill_null(numbered[name].cast(pa.int64()), -(2**63)) for name in ("migration_id", "record_time")}
    )
    numbered = numbered.take(pc.sort_indices(order, sort_keys=[(name, "ascending") for name in order.column_names]))
    contracts = parsed(numbered["payload"], License, [LICENSE] * numbered.num_rows, notes)
    latest: dict[str, tuple[License, str | None]] = {}
    for contract, choice in zip(contracts, numbered["ended_by"].to_pylist(), strict=True):
        if contract is not None:
            latest[contract.validator] = (contract, choice)
    gone = {validator for validator, (_, choice) in latest.items() if choice in GONE}
    return {name: Liveness(latest_of) for name, (latest_of, _) in latest.items() if name not in gone}, len(gone)


def _add_records(source: Source, opening: Any, found: dict[str, Liveness], notes: NotUnderstood) -> None:
    lives = Lifetimes.of(source, [LIVENESS, FAUCET], opening)
    names = lives.created["template_name"].to_pylist()
    for record in parsed(lives.created["payload"], FaucetCoupon, names, notes):
        if record is not None:
            own = found.setdefault(record.provider, Liveness())
            own.round = record.round.number if own.round is None else max(own.round, record.round.number)


def _row(validator: str, own: Liveness, latest: int | None) -> dict[str, Any]:
    state = None if own.license is None else own.license.faucet
    last = own.last_round
    first = missed = collected = None
    if state is not None and last is not None:
        first, missed = state.first.number, state.missed
        collected = last - first + 1 - missed
    metadata = None if own.license is None else own.license.metadata
    return {
        "validator": validator,
        "sponsor": None if own.license is None else own.license.sponsor,
        "first_round": first,
        "last_round": last,
        "collected": collected,
        "missed": missed,
        "silent_for": None if last is None or latest is None else latest - last,
        "version": None if metadata is None else metadata.version,
    }
