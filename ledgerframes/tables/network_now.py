"""Tables of the network's current state: rounds, names, traffic, faucets, apps, super validators, scans."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.contracts import contract_columns
from ledgerframes.tables.kinds import AMOUNT, BOOL, INT64, JSON, TEXT, TIME
from ledgerframes.tables.table import Column, loaded


def _issuance(name: str, member: str, kind: str) -> Column:
    return Column(name, AMOUNT, f"Coin issued per unit of weight of a {kind} coupon; null while the round is open.",
                  True, "coin per weight", f"/contract/payload/{member}")  # fmt: skip


ROUNDS: Final = loaded(
    "rounds",
    "One row per mining round that is open, issuing, or closed and not yet settled.",
    ("POST /v0/open-and-issuing-mining-rounds", "GET /v0/closed-rounds"),
    ("contract_id",),
    (
        Column("round", INT64, "Number of the round.", unit="rounds", source="/contract/payload/round/number"),
        Column("phase", TEXT, "State of the round: open, issuing or closed.", source="the list it is in"),
        Column("amulet_price_usd", AMOUNT, "Price of the coin in the round; reported while it is open.", True,
               "USD per coin", "/contract/payload/amuletPrice"),
        Column("opens_at", TIME, "When the phase begins; null if closed.", True, source="/contract/payload/opensAt"),
        Column("target_closes_at", TIME, "When the phase is to end, not before; null if closed.", True,
               source="/contract/payload/targetClosesAt"),
        _issuance("issuance_per_validator_faucet", "optIssuancePerValidatorFaucetCoupon", "validator faucet"),
        _issuance("issuance_per_featured_app", "issuancePerFeaturedAppRewardCoupon", "featured app reward"),
        _issuance("issuance_per_unfeatured_app", "issuancePerUnfeaturedAppRewardCoupon", "unfeatured app reward"),
        _issuance("issuance_per_validator", "issuancePerValidatorRewardCoupon", "validator reward"),
        _issuance("issuance_per_sv", "issuancePerSvRewardCoupon", "super validator reward"),
        Column("synchronizer_id", TEXT, "Synchronizer of the round; null if closed.", True, source="/domain_id"),
        *contract_columns("/contract"),
    ),
)  # fmt: skip

_ACTUAL: Final = "/traffic_status/actual"

TRAFFIC: Final = loaded(
    "traffic",
    "One row per requested participant or mediator: its extra traffic on a synchronizer.",
    ("GET /v0/domains/{domain_id}/members/{member_id}/traffic-status",),
    ("member", "synchronizer_id"),
    (
        Column("member", TEXT, "The requested member: PAR:: or MED::, name, fingerprint.", source="the argument"),
        Column("synchronizer_id", TEXT, "The synchronizer.", source="the argument, or the one of GET /v0/dso"),
        Column("found", BOOL, "Whether the synchronizer knows the member.", source="false on 404"),
        Column("total_consumed", INT64, "Extra traffic used so far.", True, "bytes", f"{_ACTUAL}/total_consumed"),
        Column("total_limit", INT64, "Extra traffic usable in all.", True, "bytes", f"{_ACTUAL}/total_limit"),
        Column("total_purchased", INT64, "Extra traffic bought; above the limit while a purchase is in process.", True,
               "bytes", "/traffic_status/target/total_purchased"),
    ),
)  # fmt: skip

NAMES: Final = loaded(
    "names",
    "One row per name of the name service that has not expired, network-wide.",
    ("GET /v0/ans-entries",),
    ("name",),
    (
        Column("name", TEXT, "The name.", source="/name"),
        Column("party", TEXT, "Party that owns it.", source="/user"),
        Column("url", TEXT, "Address the owner gave; empty where none.", True, source="/url"),
        Column("description", TEXT, "The owner's words; empty where none.", True, source="/description"),
        Column("expires_at", TIME, "When it ends; null for the operator's own.", True, source="/expires_at"),
        Column("contract_id", TEXT, "Id of the entry's contract; null for the operator's own.", True,
               source="/contract_id"),
    ),
)  # fmt: skip

VALIDATOR_FAUCETS: Final = loaded(
    "validator_faucets",
    "One row per requested validator: the rounds in which it collected a faucet coupon.",
    ("GET /v0/validators/validator-faucets",),
    ("validator",),
    (
        Column("validator", TEXT, "Party of the requested validator.", source="the argument"),
        Column("found", BOOL, "Whether it has a license.", source="whether the answer names the validator"),
        Column("rounds_collected", INT64, "Rounds it collected for.", True, "rounds", "/numRoundsCollected"),
        Column("rounds_missed", INT64, "Rounds between the two it missed.", True, "rounds", "/numRoundsMissed"),
        Column("first_round", INT64, "First round it collected for; 0 also if it never did.", True, "rounds",
               "/firstCollectedInRound"),
        Column("last_round", INT64, "Last round it collected for.", True, "rounds", "/lastCollectedInRound"),
    ),
)  # fmt: skip

FEATURED_APPS: Final = loaded(
    "featured_apps",
    "One row per featured app right.",
    ("GET /v0/featured-apps",),
    ("contract_id",),
    (
        *contract_columns(),
        Column("provider", TEXT, "Party that provides the app.", True, source="/payload/provider"),
        Column("dso", TEXT, "Party of the governing organization.", True, source="/payload/dso"),
        Column("activity_weight", AMOUNT,
               "Weight of the app's activity; null where the right states none, which counts as 1.", True,
               unit="weight", source="/payload/activityWeight"),
    ),
)  # fmt: skip

SUPER_VALIDATORS: Final = loaded(
    "super_validators",
    "One row per super validator: `info` is its entry in the rules of GET /v0/dso, `node` the state of its node there.",
    ("GET /v0/dso",),
    ("party",),
    (
        Column("party", TEXT, "Party of the super validator.", source="/party"),
        Column("name", TEXT, "Its name.", source="/info/name"),
        Column("reward_weight", INT64, "Weight of its rewards.", unit="weight", source="/info/svRewardWeight"),
        Column("joined_round", INT64, "Round it joined in.", True, "rounds", "/info/joinedAsOfRound/number"),
        Column("participant_id", TEXT, "Id of its participant, PAR::.", True, source="/info/participantId"),
        Column("scan_url", TEXT, "Address of its scan, without /api/scan.", True, source="/node/scan/publicUrl"),
        Column("sequencer_id", TEXT, "Id of its sequencer, SEQ::.", True, source="/node/sequencer/sequencerId"),
        Column("sequencer_url", TEXT, "Address of its sequencer.", True, source="/node/sequencer/url"),
        Column("mediator_id", TEXT, "Id of its mediator, MED::.", True, source="/node/mediator/mediatorId"),
        Column("node", JSON, "State of its node on the active synchronizer.", True, source="/node"),
    ),
)

SCANS: Final = loaded(
    "scans",
    "One row per scan of the network.",
    ("GET /v0/scans",),
    ("synchronizer_id", "url"),
    (
        Column("synchronizer_id", TEXT, "Synchronizer that the scan serves.", source="domainId of the group"),
        Column("sv_name", TEXT, "Name of the super validator that runs it.", source="/svName"),
        Column("url", TEXT, "Its address; the base URL for `connect` is this with /api/scan.", source="/publicUrl"),
    ),
)
