"""The records that the ledger's rules carry: fees, issuance and limits of the coin, members and limits of the DSO.

Their members are those of a real ledger's first rules; the amounts are this ledger's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import ZERO
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
