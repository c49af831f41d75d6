"""The records that the ledger's rules carry, and the terms of a mining round: what a transfer costs, a coupon earns.

The members of the rules are those of a real ledger's first rules; the amounts are this ledger's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, ZERO, divided, quotient, spelled, times, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.parties import name_of
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.timestamps import DAY, HOUR

YEAR: Final = 365 * DAY

MARKER_REWARDS: Final = "RewardVersion_FeaturedAppMarkers"
TRAFFIC_REWARDS: Final = "RewardVersion_TrafficBasedAppRewards"

_FIRST: Final = ("40000000000.0000000000", "0.0500000000", "0.1500000000")
_LATER: Final = ("20000000000.0000000000", "0.1200000000", "0.4000000000")

Payload = dict[str, Any]


def transfer_config(*, charged: bool) -> Payload:
    """The limits of transfers, and their fees in USD; if uncharged, only holding still costs something."""
    fees = ("0.0300000000", "0.0050000000", "0.0100000000") if charged else (ZERO, ZERO, ZERO)
    create, lock_holder, transfer = fees
    bounds = ("100.0000000000", "1000.0000000000", "1000000.0000000000")
    rates = ("0.0010000000", "0.0001000000", "0.0000100000") if charged else (ZERO, ZERO, ZERO)
    return {
        "createFee": {"fee": create},
        "holdingFee": {"rate": "0.0000190259"},
        "transferFee": {
            "initialRate": transfer,
            "steps": [{"_1": bound, "_2": rate} for bound, rate in zip(bounds, rates, strict=True)],
        },
        "lockHolderFee": {"fee": lock_holder},
        "extraFeaturedAppRewardAmount": "1.0000000000",
        "maxNumInputs": "100",
        "maxNumOutputs": "100",
        "maxNumLockHolders": "50",
    }


def issuance_config(*, later: bool) -> Payload:
    """The issuance of a round, before and after the curve's step."""
    return _issuance(*(_LATER if later else _FIRST), fund="0.0500000000" if later else None)


def coin_rules(sim: Simulation) -> Payload:
    """The payload of the coin's rules; with rewards by traffic unless the ledger's model has none yet."""
    calendar = sim.calendar
    curve = {
        "initialValue": issuance_config(later=False),
        "futureValues": [{"_1": _span(calendar.step), "_2": issuance_config(later=True)}],
    }
    fees = {
        "baseRateTrafficLimits": {"burstAmount": "200000", "burstWindow": _span(HOUR // 3)},
        "extraTrafficPrice": "16.6700000000",
        "readVsWriteScalingFactor": "4",
        "minTopupAmount": "200000",
    }
    synchronizer = {
        "requiredSynchronizers": {"map": [[synchronizer_id, {}] for synchronizer_id in sim.world.synchronizers]},
        "activeSynchronizer": sim.main,
        "fees": fees,
    }
    packages = ("amulet", "amuletNameService", "dsoGovernance", "validatorLifecycle", "wallet", "walletPayments")
    config = {
        "transferConfig": transfer_config(charged=calendar.fees_end > calendar.begin),
        "issuanceCurve": curve,
        "decentralizedSynchronizer": synchronizer,
        "tickDuration": _span(calendar.tick),
        "packageConfig": dict.fromkeys(packages, "0.1.2"),
        "transferPreapprovalFee": None,
        "featuredAppActivityMarkerAmount": "1.0000000000",
        "optDevelopmentFundManager": sim.parties.fund_manager,
    }
    if calendar.rewards != "markers":
        minting = TRAFFIC_REWARDS if calendar.rewards == "traffic" else MARKER_REWARDS
        config["rewardConfig"] = reward_config(minting, dry_run=None, life=calendar.coupon_life)
    free = {
        "_1": timestamps.trimmed(calendar.fees_end),
        "_2": {**config, "transferConfig": transfer_config(charged=False)},
    }
    schedule = {"initialValue": config, "futureValues": [free] if calendar.fees_end > calendar.begin else []}
    return {"configSchedule": schedule, "isDevNet": True}


def reward_config(minting: str, *, dry_run: str | None, life: int) -> Payload:
    """How apps are rewarded: which version mints, which one is tried, and how long its coupons live."""
    return {
        "mintingVersion": minting,
        "dryRunVersion": dry_run,
        "batchSize": "100",
        "rewardCouponTimeToLive": _span(life),
        "appRewardCouponThreshold": "0.5000000000",
    }


def dso_rules(sim: Simulation) -> Payload:
    """The payload of the rules of the organization that runs the ledger; the delegate has the highest weight."""
    weights = {party: (4 - place) * 10_000 for place, party in enumerate(sim.parties.sponsors)}
    return {
        "epoch": "0",
        "svs": [[party, _member(party, weight)] for party, weight in weights.items()],
        "offboardedSvs": [],
        "dsoDelegate": sim.parties.sponsors[0],
        "config": _limits(sim.world.synchronizers, sim.main),
        "initialTrafficState": [[_participant(party), {"consumedTraffic": "0"}] for party in weights],
        "isDevNet": True,
    }


def _member(party: str, weight: int) -> Payload:
    return {
        "name": name_of(party),
        "joinedAsOfRound": {"number": "0"},
        "svRewardWeight": str(weight),
        "participantId": _participant(party),
    }


def _participant(party: str) -> str:
    return f"PAR::{party}"


def _limits(synchronizers: Sequence[str], main: str) -> Payload:
    nodes = {"maxNumCometBftNodes": "2", "maxNumGovernanceKeys": "2", "maxNumSequencingKeys": "2"}
    state = {"state": "DS_Operational", "cometBftGenesisJson": "{}", "acsCommitmentReconciliationInterval": None}
    return {
        "numUnclaimedRewardsThreshold": "10",
        "numMemberTrafficContractsThreshold": "5",
        "actionConfirmationTimeout": _span(HOUR),
        "svOnboardingRequestTimeout": _span(HOUR),
        "svOnboardingConfirmedTimeout": _span(HOUR),
        "voteRequestTimeout": _span(7 * DAY),
        "dsoDelegateInactiveTimeout": _span(70 * timestamps.SECOND),
        "synchronizerNodeConfigLimits": {"cometBft": {**nodes, "maxNodeIdLength": "50", "maxPubKeyLength": "256"}},
        "maxTextLength": "1024",
        "decentralizedSynchronizer": {
            "synchronizers": [[synchronizer_id, state] for synchronizer_id in synchronizers],
            "lastSynchronizerId": synchronizers[-1],
            "activeSynchronizerId": main,
        },
        "nextScheduledSynchronizerUpgrade": None,
        "voteCooldownTime": None,
    }


def _issuance(coin_per_year: str, validators: str, apps: str, *, fund: str | None) -> Payload:
    return {
        "amuletToIssuePerYear": coin_per_year,
        "validatorRewardPercentage": validators,
        "appRewardPercentage": apps,
        "validatorRewardCap": "0.2000000000",
        "featuredAppRewardCap": "100.0000000000",
        "unfeaturedAppRewardCap": "0.6000000000",
        "optValidatorFaucetCap": "2.8500000000",
        "optDevelopmentFundPercentage": fund,
    }


def _span(micros: int) -> Payload:
    return {"microseconds": str(micros)}


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


#: The member of a round's payload that has the issuance per unit of weight, by the share.
PER_COUPON: Final = {
    "validator": "issuancePerValidatorRewardCoupon",
    "featured": "issuancePerFeaturedAppRewardCoupon",
    "unfeatured": "issuancePerUnfeaturedAppRewardCoupon",
    "sv": "issuancePerSvRewardCoupon",
    "faucet": "optIssuancePerValidatorFaucetCoupon",
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
