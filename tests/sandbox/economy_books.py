"""What the items of a history are made of and how its amounts are rounded; tests that recompute its tables call it."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

COIN, LOCKED = "Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet"
EXACT = Context(prec=120, rounding=ROUND_HALF_EVEN)
PLACES = Decimal("1e-10")
YEAR = 365 * 86_400 * 10**6
#: Of each template of coupons: what states its weight, and what its round issues for it.
WEIGHTS = {
    "Splice.Amulet:AppRewardCoupon": ("amount", "issuancePer{}AppRewardCoupon"),
    "Splice.Amulet:ValidatorRewardCoupon": ("amount", "issuancePerValidatorRewardCoupon"),
    "Splice.Amulet:SvRewardCoupon": ("weight", "issuancePerSvRewardCoupon"),
    "Splice.ValidatorLicense:ValidatorFaucetCoupon": (None, "optIssuancePerValidatorFaucetCoupon"),
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord": (None, "optIssuancePerValidatorFaucetCoupon"),
}
KINDS = set(WEIGHTS)
FUND = "Splice.Amulet:DevelopmentFundCoupon"
REWARD = "Splice.Amulet:RewardCouponV2"


def rounded(value):
    """Ten decimal places, half to even, as the ledger rounds every product and quotient."""
    return EXACT.quantize(value, PLACES)


def entity_of(event):
    return event["template_id"].partition(":")[2]


def preorder(item):
    """The events of a transaction in the order in which they happened."""
    waiting = list(reversed(item["root_event_ids"]))
    while waiting:
        event = item["events_by_id"][waiting.pop()]
        yield event
        waiting.extend(reversed(event.get("child_event_ids", [])))


def coin_payload(entity, payload):
    return payload["amulet"] if entity == LOCKED else payload


def round_number(payload):
    return int(payload["round"]["number"])


def weight_of(entity, coupon):
    """What a coupon weighs, and the member of its issuing round that is issued for one."""
    weight, issuance = WEIGHTS[entity]
    issuance = issuance.format("Featured" if coupon.get("featured") else "Unfeatured")
    return Decimal(coupon[weight] if weight else 1), issuance


def worth_of(entity, coupon, issuing):
    """What a coupon is worth in its issuing round, unrounded."""
    weight, issuance = weight_of(entity, coupon)
    return weight * Decimal(issuing[issuance])


def active_of(books, entity):
    """The payloads of a template's contracts that a history leaves active, by id."""
    return {contract: life.payload for contract, life in books.active().items() if life.entity == entity}


def allowed_by(config, tick):
    """What a round may issue, and the pools: validators, applications, development fund, super validators."""
    whole = rounded(Decimal(config["amuletToIssuePerYear"]) * tick / YEAR)
    fund = rounded(whole * Decimal(config.get("optDevelopmentFundPercentage") or 0))
    shares = ("validatorRewardPercentage", "appRewardPercentage")
    pools = [rounded((whole - fund) * Decimal(config[name])) for name in shares]
    return whole, *pools, fund, whole - sum(pools) - fund


def by_traffic(mining_round):
    """Whether a round's apps are rewarded by coupons of the second version."""
    return (mining_round.get("rewardConfig") or {}).get("mintingVersion") == "RewardVersion_TrafficBasedAppRewards"
