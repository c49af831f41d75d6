"""`rounds`: the mining rounds, their configuration and issuance, and when each phase began."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec import field as member

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.amounts import rounded
from ledgerframes.economics.reading.models import (
    CLOSED_ROUND,
    ISSUING_ROUND,
    OPEN_ROUND,
    RULES,
    SUMMARIZING_ROUND,
    Micros,
    Rate,
    Round,
)
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import Member, column, columns_of, fits, kinds_of, parsed
from ledgerframes.economics.reading.source import Source, opening_rows, source_of_events
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.rounds_and_rewards import ROUND_HISTORY

PHASES: Final = {
    OPEN_ROUND: "opened_at",
    SUMMARIZING_ROUND: "summarizing_at",
    ISSUING_ROUND: "issuing_at",
    CLOSED_ROUND: "closed_at",
}
_START: Final = "AmuletRules_MiningRound_StartIssuing"
_CONFIRM: Final = "DsoRules_ConfirmAction"
_YEAR: Final = Decimal(365 * 86_400 * 1_000_000)


class IssuanceConfig(Struct, frozen=True, gc=False):
    """How much is issued, to whom, and the caps."""

    per_year: Decimal = member(name="amuletToIssuePerYear")
    validator: Decimal = member(name="validatorRewardPercentage")
    app: Decimal = member(name="appRewardPercentage")
    validator_cap: Decimal = member(name="validatorRewardCap")
    featured_cap: Decimal = member(name="featuredAppRewardCap")
    unfeatured_cap: Decimal = member(name="unfeaturedAppRewardCap")
    faucet_cap: Decimal | None = member(name="optValidatorFaucetCap", default=None)
    development_fund: Decimal | None = member(name="optDevelopmentFundPercentage", default=None)


class TransferConfig(Struct, frozen=True, gc=False):
    """The fees of transfers, in USD."""

    holding_fee: Rate | None = member(name="holdingFee", default=None)


class RoundContract(Struct, frozen=True, gc=False):
    """A round's contract in any of its phases: what a phase does not state is null."""

    round: Round
    price: Decimal | None = member(name="amuletPrice", default=None)
    opens: datetime | None = member(name="opensAt", default=None)
    closes: datetime | None = member(name="targetClosesAt", default=None)
    tick: Micros | None = member(name="tickDuration", default=None)
    fees: TransferConfig | None = member(name="transferConfigUsd", default=None)
    config: IssuanceConfig | None = member(name="issuanceConfig", default=None)
    sv: Decimal | None = member(name="issuancePerSvRewardCoupon", default=None)
    validator: Decimal | None = member(name="issuancePerValidatorRewardCoupon", default=None)
    faucet: Decimal | None = member(name="optIssuancePerValidatorFaucetCoupon", default=None)
    featured: Decimal | None = member(name="issuancePerFeaturedAppRewardCoupon", default=None)
    unfeatured: Decimal | None = member(name="issuancePerUnfeaturedAppRewardCoupon", default=None)


class NumberedRound(Struct, frozen=True, gc=False):
    """The number of a round's contract."""

    round: Round


class OpenedRound(Struct, frozen=True, gc=False):
    """An open round's number, and from when on it can be used."""

    round: Round
    opens: datetime | None = member(name="opensAt", default=None)


class Totals(Struct, frozen=True, gc=False):
    """The total weights that a round's issuance was computed from."""

    sv: Decimal = member(name="totalSvRewardWeight")
    validator: Decimal = member(name="totalValidatorRewardCoupons")
    featured_app: Decimal = member(name="totalFeaturedAppRewardCoupons")
    unfeatured_app: Decimal = member(name="totalUnfeaturedAppRewardCoupons")
    validator_faucet: Decimal | None = member(name="optTotalValidatorFaucetCoupons", default=None)


class StartIssuing(Struct, frozen=True, gc=False):
    """The argument of `AmuletRules_MiningRound_StartIssuing`."""

    summary: Totals


class Started(Struct, frozen=True, gc=False):
    """What it returned."""

    issuing: str = member(name="issuingRoundCid")


@dataclass
class Rounds:
    """The rounds that events and an opening show.

    Attributes:
        cells: the values of each round, by its number.
        by_contract: the round of each contract.
    """

    cells: dict[int, dict[str, Any]] = field(default_factory=dict)
    by_contract: dict[str, int] = field(default_factory=dict)

    def issuance(self, number: int | None, kind: str) -> Decimal | None:
        """Coin per weight of a kind (sv, validator, …) in a round; None if the round is not known to issue."""
        issuance: Decimal | None = self.cells.get(-1 if number is None else number, {}).get(f"issuance_per_{kind}")
        return issuance


@from_opening
def rounds(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the mining rounds: price, configuration, issuance per weight, and when each phase began.

    `attrs["checks"]` compares the super validators' issuance with the round's own configuration: the coin per year
    times the tick over 365 days, less the shares of validators, applications and the development fund, over the total
    weight, rounded half even to 10 places. Total weights are those that the round's issuance was computed from; what a
    confirmation proposes is counted in `attrs["not_understood"]`.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per round, by number, with the columns of `lf.describe("round_history")`: amounts in coin, USD or coin
        per weight, `tick_us` in microseconds, times in UTC. What lies outside the events is null.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.rounds(lf.load_events(net))
        >>> int(rounds["round"][0]), str(rounds.amulet_price_usd[0])
        (0, '0.0050000000')
    """
    source, notes = source_of_events(events), NotUnderstood()
    by_round = rounds_of(source, opening, notes, EVERYTHING)
    _add_totals(by_round, source, notes)
    numbers = sorted(by_round.cells)
    schema = ROUND_HISTORY.schema
    columns = {name: [by_round.cells[number].get(name) for number in numbers] for name in ROUND_HISTORY.names}
    rows = pa.table({name: column(values, schema.field(name).type) for name, values in columns.items()})
    return given(rows, ROUND_HISTORY, source, notes, as_=as_, decimals=decimals, checks=_checks(by_round))


@dataclass(frozen=True)
class Asked:
    """What of the rounds is read.

    Attributes:
        templates: the contracts.
        shape: the struct of their payloads.
        cells: the columns of `round_history`, `round` among them.
    """

    templates: tuple[str, ...]
    shape: Any
    cells: Mapping[str, Callable[[Any], Any]]


def rounds_of(source: Source, opening: Any, notes: NotUnderstood, asked: Asked) -> Rounds:
    """The rounds of events and an opening, as far as they are asked for."""
    by_round = Rounds()
    columns = ["record_time", "contract_id", "template_name", "payload"]
    created = source.creates(asked.templates, columns)
    earlier = opening_rows(opening, asked.templates)
    before = {name: earlier[name] for name in columns[1:]} | {"record_time": pa.nulls(earlier.num_rows, TIME.arrow)}
    rows = pa.concat_tables([pa.table(before).select(columns).cast(created.schema), created])
    contracts = columns_of(rows, "payload", asked.shape, kinds_of(ROUND_HISTORY), asked.cells, notes)
    by_round.cells = {cells["round"]: cells for cells in _latest(contracts, asked.cells).to_pylist()}
    by_round.by_contract = dict(zip(contracts["contract_id"].to_pylist(), contracts["round"].to_pylist(), strict=True))
    return by_round


def _latest(contracts: pa.Table, cells: Iterable[str]) -> pa.Table:
    """One row per round: what its contracts stated last, and when each phase began first."""
    # Only the open phase's times are the round's own.
    later = pc.is_in(contracts["template_name"], pa.array([ISSUING_ROUND, CLOSED_ROUND]))
    columns = {name: contracts[name] for name in cells}
    for name in {"opens_at", "target_closes_at"} & columns.keys():
        columns[name] = pc.if_else(later, pa.scalar(None, TIME.arrow), columns[name])
    for template, name in PHASES.items():
        own = pc.equal(contracts["template_name"], template)
        columns[name] = pc.if_else(own, contracts["record_time"], pa.scalar(None, TIME.arrow))
    numbers = pc.unique(columns.pop("round"))
    groups = pc.index_in(contracts["round"], numbers).to_numpy()
    chosen = {
        name: _chosen(values, groups, len(numbers), first=name in PHASES.values()) for name, values in columns.items()
    }
    return pa.table({"round": numbers} | {name: columns[name].take(places) for name, places in chosen.items()})


def _chosen(values: pa.ChunkedArray, groups: Any, count: int, *, first: bool) -> pa.Array:
    """The first or the last row of each group that has a value."""
    rows = np.flatnonzero(pc.is_valid(values).to_numpy())
    places = np.full(count, len(values) if first else -1, np.int64)
    (np.minimum if first else np.maximum).at(places, groups[rows], rows)
    return pa.array(places, mask=(places < 0) | (places == len(values)))


def _add_totals(found: Rounds, source: Source, notes: NotUnderstood) -> None:
    columns = ("template_name", "payload", "exercise_result")
    rows = source.exercises(columns, choices=[_START], templates=[RULES])
    names = [f"{RULES}/{_START}"] * rows.num_rows
    arguments = parsed(rows["payload"], StartIssuing, names, notes)
    results = parsed(rows["exercise_result"], Started, names, notes)
    for argument, result in zip(arguments, results, strict=True):
        if argument is None or result is None:
            continue
        number = found.by_contract.get(result.issuing)
        totals = {f"total_weight_{kind}": getattr(argument.summary, kind) for kind in Totals.__struct_fields__}
        if number is None or not all(map(fits, totals.values())):
            notes[names[0]] += 1
            continue
        found.cells[number] |= totals
    proposals = source.exercises(("template_name", "choice", "payload"), choices=[_CONFIRM])
    proposed = pc.match_substring(proposals["payload"], "MiningRound_StartIssuing")
    notes.choices(proposals.filter(pc.fill_null(proposed, False)), ())  # noqa: FBT003


def _checks(found: Rounds) -> dict[str, dict[str, int]]:
    """How many rounds issue to super validators what their own configuration says."""
    counts = {"equal": 0, "different": 0, "unknown": 0}
    for cells in found.cells.values():
        computed, stated = sv_issuance(cells), cells.get("issuance_per_sv")
        known = computed is not None and stated is not None
        counts["unknown" if not known else "equal" if computed == stated else "different"] += 1
    return {"issuance_per_sv": counts}


def sv_issuance(cells: dict[str, Any]) -> Decimal | None:
    """What a round should issue per weight of super validators; None if its configuration or weight is not known."""
    per_year, tick, weight = (cells.get(name) for name in ("amulet_to_issue_per_year", "tick_us", "total_weight_sv"))
    if per_year is None or tick is None or not weight:
        return None
    # The ledger rounds every step; the super validators get what the others leave.
    issued = rounded(per_year * tick / _YEAR)
    others = [rounded(issued * (cells.get(f"{kind}_percentage") or Decimal(0))) for kind in _SHARES]
    return rounded((issued - sum(others, Decimal(0))) / weight)


_SHARES: Final = ("validator", "app", "development_fund")


_config: Final = attrgetter("config")


def _of_config(name: str) -> Member:
    return Member(_config, name)


_CELLS: Final[dict[str, Callable[[RoundContract], Any]]] = {
    "round": attrgetter("round.number"),
    "amulet_price_usd": attrgetter("price"),
    "opens_at": attrgetter("opens"),
    "target_closes_at": attrgetter("closes"),
    "tick_us": Member(attrgetter("tick"), "microseconds"),
    "holding_fee_usd": lambda contract: (
        None if contract.fees is None or contract.fees.holding_fee is None else contract.fees.holding_fee.rate
    ),
    "amulet_to_issue_per_year": _of_config("per_year"),
    "validator_percentage": _of_config("validator"),
    "app_percentage": _of_config("app"),
    "development_fund_percentage": _of_config("development_fund"),
    "validator_cap": _of_config("validator_cap"),
    "featured_app_cap": _of_config("featured_cap"),
    "unfeatured_app_cap": _of_config("unfeatured_cap"),
    "validator_faucet_cap_usd": _of_config("faucet_cap"),
    "issuance_per_sv": attrgetter("sv"),
    "issuance_per_validator": attrgetter("validator"),
    "issuance_per_validator_faucet": attrgetter("faucet"),
    "issuance_per_featured_app": attrgetter("featured"),
    "issuance_per_unfeatured_app": attrgetter("unfeatured"),
}
#: Everything that the table has.
EVERYTHING: Final = Asked(tuple(PHASES), RoundContract, _CELLS)
#: What rewards are multiplied with.
ISSUANCE: Final = Asked(
    (ISSUING_ROUND, CLOSED_ROUND),
    RoundContract,
    {name: value for name, value in _CELLS.items() if name == "round" or name.startswith("issuance_per_")},
)
#: When rounds opened.
OPENINGS: Final = Asked((OPEN_ROUND,), OpenedRound, {name: _CELLS[name] for name in ("round", "opens_at")})
#: Which rounds there are.
NUMBERS: Final = Asked(tuple(PHASES), NumberedRound, {"round": _CELLS["round"]})
