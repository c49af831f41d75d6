"""The terms of a mining round: the costs of a transfer, and how much coin it issues for each coupon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ledgerframes.sandbox.generator.configuration import TRAFFIC_REWARDS, YEAR
from ledgerframes.sandbox.world.amounts import UNITS, ZERO, divided, quotient, spelled, times, units
from ledgerframes.sandbox.world.contracts import Contract


@dataclass(frozen=True, slots=True)
class Fees:
    """The fees of one open round in ten-billionths of a coin.

    Attributes:
        price: of a coin in USD.
        create: for each coin that is made.
        holding: for each round that a coin is held.
        lock_holder: for each holder of a lock.
        steps: from which amount on which share of a transfer is due.
    """

    price: int
    create: int
    holding: int
    lock_holder: int
    steps: tuple[tuple[int, int], ...]

    @property
    def charged(self) -> bool:
        """Whether transfers cost anything; if not, their inputs pay no holding fees either."""
        return self.create > 0

    def of_transfer(self, amount: int) -> int:
        """The stepped fee of sending an amount to somebody else."""
        total = 0
        for (since, rate), (until, _) in zip(self.steps, (*self.steps[1:], (amount, 0)), strict=True):
            total += times(max(0, min(amount, until) - since), rate)
        return total

    def of_output(self, amount: int, *, to_self: bool, holders: int = 0) -> int:
        """The cost of creating one output."""
        return self.create + (0 if to_self else self.of_transfer(amount)) + holders * self.lock_holder

    def of_holding(self, amount: int, rounds: int, rate: int) -> int:
        """The holding fee of a coin used as input, for the rounds that it was held."""
        return min(amount, rounds * rate) if self.charged else 0


# Of the few rounds that are open, whose payloads never change.
@lru_cache(16)
def fees_of(open_round: Contract) -> Fees:
    """The fees of an open round, from USD to coin at its price."""
    payload: dict[str, Any] = open_round.payload
    price, config = units(payload["amuletPrice"]), payload["transferConfigUsd"]
    stepped = config["transferFee"]
    steps = [(0, units(stepped["initialRate"]))]
    steps += [(divided(units(step["_1"]), price), units(step["_2"])) for step in stepped["steps"]]
    return Fees(
        price=price,
        create=divided(units(config["createFee"]["fee"]), price),
        holding=divided(units(config["holdingFee"]["rate"]), price),
        lock_holder=divided(units(config["lockHolderFee"]["fee"]), price),
        steps=tuple(steps),
    )


class Totals(NamedTuple):
    """The weights of a round's coupons by kind: amounts in ten-billionths, super validators' weights, and faucets."""

    validator: int = 0
    featured: int = 0
    unfeatured: int = 0
    sv: int = 0
    faucet: int = 0

    def record(self) -> dict[str, str]:
        """The summary that members confirm."""
        return {
            "totalValidatorRewardCoupons": spelled(self.validator),
            "totalFeaturedAppRewardCoupons": spelled(self.featured),
            "totalUnfeaturedAppRewardCoupons": spelled(self.unfeatured),
            "totalSvRewardWeight": str(self.sv),
            "optTotalValidatorFaucetCoupons": str(self.faucet),
        }


class Issuance(NamedTuple):
    """Ten-billionths of a coin per unit of weight, the amount nobody can claim, and the development fund's share."""

    validator: int
    featured: int
    unfeatured: int
    sv: int
    faucet: int
    unclaimed: int
    fund: int


def issuance_of(config: Mapping[str, Any], *, tick: int, price: int, totals: Totals) -> Issuance:
    """The issuance of a round.

    The development fund's share is deducted before the others. Usage comes before faucets, and featured apps before
    others; what a cap leaves of a share is for the next, and the super validators get what the others have no share of.

    Args:
        config: the round's issuance configuration.
        tick: how long a round is the newest, in microseconds.
        price: of a coin in USD, in ten-billionths.
        totals: of the round's coupons.
    """
    whole = _whole(config, tick)
    to_fund = _to_fund(config, whole)
    to_validators = times(whole - to_fund, units(config["validatorRewardPercentage"]))
    for_apps = to_apps(config, tick=tick)
    to_svs = whole - to_fund - to_validators - for_apps
    faucet_cap = divided(units(config["optValidatorFaucetCap"]), price)
    validator, left = _tranche(to_validators, units(config["validatorRewardCap"]), totals.validator)
    faucet, unclaimed_by_validators = _tranche(left, faucet_cap, totals.faucet * UNITS)
    featured, left = _tranche(for_apps, units(config["featuredAppRewardCap"]), totals.featured)
    unfeatured, unclaimed_by_apps = _tranche(left, units(config["unfeaturedAppRewardCap"]), totals.unfeatured)
    sv = divided(to_svs, totals.sv * UNITS) if totals.sv else 0
    unclaimed = unclaimed_by_validators + unclaimed_by_apps + max(0, to_svs - totals.sv * sv)
    return Issuance(validator, featured, unfeatured, sv, faucet, unclaimed, to_fund)


def uses_traffic(mining_round: Contract) -> bool:
    """Whether apps are rewarded by traffic in a round, and not by markers and fees."""
    config = mining_round.payload.get("rewardConfig")
    return config is not None and config["mintingVersion"] == TRAFFIC_REWARDS


def to_apps(config: Mapping[str, Any], *, tick: int) -> int:
    """The apps' share of a round's issuance after the development fund's."""
    whole = _whole(config, tick)
    return times(whole - _to_fund(config, whole), units(config["appRewardPercentage"]))


def _to_fund(config: Mapping[str, Any], whole: int) -> int:
    return times(whole, units(config["optDevelopmentFundPercentage"] or ZERO))


def _whole(config: Mapping[str, Any], tick: int) -> int:
    return quotient(units(config["amuletToIssuePerYear"]) * tick, YEAR)


def _tranche(share: int, cap: int, weights: int) -> tuple[int, int]:
    """The amount per unit of weight of a share, up to the cap, and the rest of the share."""
    if not weights:
        return cap, share
    each = min(cap, divided(share, weights))
    return each, max(0, share - times(each, weights))
