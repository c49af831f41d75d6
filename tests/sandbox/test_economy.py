"""The simulated economy keeps the network's rules, to the last digit, in worlds of every kind."""

import json
from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from itertools import pairwise

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.calendar import updates_of_days
from tests.economics.books import Books
from tests.sandbox.economy_books import (
    COIN,
    EXACT,
    KINDS,
    LOCKED,
    allowed_by,
    by_traffic,
    round_number,
    rounded,
    weight_of,
)

#: How each world is made; the day is there for other tests too.
WORLDS = {
    "a day": None,
    "many of each": {"seed": 6, "updates": 1_500, "synchronizers": 12, "migrations": 7},
    "traffic": {"seed": 3, "updates": 1_600, "reward_version": "traffic"},
    "hourly rounds": {"seed": 3, "updates": 600, "rounds_per_day": 24},
    "9 days": {"seed": 3, "updates": updates_of_days(9), "days": 9},
    "one of each": {"seed": 5, "updates": 1_500, "synchronizers": 1, "migrations": 1},
}
PHASES = ("Open", "Summarizing", "Issuing", "Closed")
PER = "issuancePer{}RewardCoupon".format
FAUCET = "optIssuancePerValidatorFaucetCoupon"


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=() if name == "a day" else pytest.mark.long) for name in WORLDS]
)
def world(request, economy):
    options = WORLDS[request.param]
    return economy if options is None else generate(**options)


@pytest.fixture(scope="module")
def books(world, economy, economy_books):
    return economy_books if world is economy else Books(world.items(private=True))


@pytest.fixture(scope="module")
def rounds(books):
    """The payloads of each round by phase, in the order in which they were created."""
    found = defaultdict(dict)
    for life in books.lives.values():
        if life.entity.startswith("Splice.Round:"):
            phase = life.entity.removeprefix("Splice.Round:").removesuffix("MiningRound")
            found[round_number(life.payload)][phase] = life.payload
    return dict(sorted(found.items()))


@pytest.fixture(scope="module")
def weights(books):
    """By round, and by the member that is issued for one: what its coupons weigh together."""
    sums = defaultdict(lambda: defaultdict(Decimal))
    for life in books.of(*KINDS):
        weight, issuance = weight_of(life.entity, life.payload)
        assert weight > 0
        sums[round_number(life.payload)][issuance] += weight
    return sums


@pytest.fixture(autouse=True)
def exact():
    """Products of two amounts have more digits than the default keeps."""
    with localcontext(EXACT):
        yield


def numbers(texts):
    return {name: Decimal(text) for name, text in texts.items()}


def test_the_coin_that_is_left_is_the_ledgers_and_its_owners_signed_it(world, books):
    assert books.supply * 10**10 == world.coins.units
    for life in books.of(COIN, LOCKED):
        holders = life.payload["lock"]["holders"] if life.entity == LOCKED else []
        assert set(life.event["signatories"]) == {life.terms["dso"], life.terms["owner"], *holders}
        assert life.coin > 0


def test_rounds_pass_through_every_phase_under_the_same_terms(world, rounds):
    assert list(rounds) == list(range(len(rounds)))
    assert [round_number(one.payload) for one in world.rounds] == [*rounds][-3:]
    for phases in rounds.values():
        assert tuple(phases) == PHASES[: len(phases)]
        for before, after in pairwise(phases.values()):
            assert {name: before[name] for name in before.keys() & after.keys()}.items() <= after.items()


def test_a_round_issues_to_every_kind_the_lesser_of_its_cap_and_its_share(rounds, weights):
    issuing = {number: phases["Issuing"] for number, phases in rounds.items() if "Issuing" in phases}
    assert issuing
    for number, told in issuing.items():
        issued = numbers({name: text for name, text in told.items() if "ssuancePer" in name})
        assert issued == issued_by(rounds[number]["Summarizing"], weights[number]), number


def issued_by(terms, weights):
    """The issuance of a round; the super validators get what the others have no share of."""
    config = numbers({name: text for name, text in terms["issuanceConfig"].items() if text is not None})
    _, validators, apps, _, others = allowed_by(config, int(terms["tickDuration"]["microseconds"]))
    issued = {}

    def tranche(share, cap, name):
        """What is left for others; a share that was rounded up leaves nothing."""
        issued[name] = min(cap, rounded(share / weights[name])) if weights[name] else cap
        return max(Decimal(0), share - rounded(issued[name] * weights[name]))

    left = tranche(validators, config["validatorRewardCap"], PER("Validator"))
    tranche(left, rounded(config["optValidatorFaucetCap"] / Decimal(terms["amuletPrice"])), FAUCET)
    left = tranche(apps, config["featuredAppRewardCap"], PER("FeaturedApp"))
    tranche(left, config["unfeaturedAppRewardCap"], PER("UnfeaturedApp"))
    sv = weights[PER("Sv")]
    issued[PER("Sv")] = rounded(others / sv) if sv else Decimal(0)
    return issued


def test_members_do_what_three_of_them_confirmed_and_know_the_totals(books, weights):
    confirmed = defaultdict(set)
    for _, event, _ in books.exercises("DsoRules_ConfirmAction", "DsoRules_ExecuteConfirmedAction"):
        action = event["choice_argument"]["action"]["value"]["amuletRulesAction"]
        confirmers = confirmed[json.dumps(action, sort_keys=True)]
        if event["choice"] == "DsoRules_ConfirmAction":
            confirmers.add(event["choice_argument"]["confirmer"])
            continue
        assert len(confirmers) >= 3
        confirmers.clear()
        if action["tag"] == "CRARC_MiningRound_StartIssuing":
            sums = weights[round_number(books.lives[action["value"]["miningRoundCid"]].payload)]
            names = (PER("Validator"), PER("FeaturedApp"), PER("UnfeaturedApp"), PER("Sv"), FAUCET)
            assert [Decimal(text) for text in action["value"]["summary"].values()] == [sums[name] for name in names]


def test_a_coupon_is_made_while_its_round_is_open_and_ends_claimed_or_expired(books, rounds):
    began, faucets, endings, left = {}, set(), set(), set()
    for place, life in enumerate(books.lives.values()):
        at = round_number(life.payload) if life.entity.startswith("Splice.Round:") or life.entity in KINDS else None
        if life.entity in KINDS:
            assert ("Splice.Round:OpenMiningRound", at) in began
            assert ("Splice.Round:SummarizingMiningRound", at) not in began
            assert not (life.entity.endswith(":AppRewardCoupon") and by_traffic(rounds[at]["Open"]))
            if life.entity.startswith("Splice.ValidatorLicense:"):
                assert (life.payload["validator"], at) not in faucets
                faucets.add((life.payload["validator"], at))
            endings |= {life.ending.endswith("_DsoExpire")} if life.until else set()
            left |= set() if life.until else {at}
        elif at is not None:
            began[life.entity, at] = place
    gone = {round_number(life.payload) for life in books.of("Splice.Round:ClosedMiningRound") if life.until}
    assert endings == {True, False}
    assert not gone & left


def test_a_transfer_pays_the_fees_of_its_round_and_says_how_balances_change(books):
    charged = set()
    for _, event, _ in books.exercises("AmuletRules_Transfer"):
        wanted, result = event["choice_argument"]["transfer"], event["exercise_result"]
        summary, sender = result["summary"], wanted["sender"]
        opened = books.lives[event["choice_argument"]["context"]["openMiningRound"]].payload
        fees, changes = Fees(opened), defaultdict(lambda: [Decimal(0), Decimal(0)])
        used = [books.lives[one["value"]] for one in wanted["inputs"] if one["tag"] == "InputAmulet"]
        made = [books.lives[one["value"]] for one in result["createdAmulets"]]
        made += [books.lives[result["senderChangeAmulet"]]] if result["senderChangeAmulet"] else []
        for sign, coins in ((-1, used), (1, made)):
            for coin in coins:
                owner, rate = changes[coin.terms["owner"]], Decimal(coin.terms["amount"]["ratePerRound"]["rate"])
                owner[0] += sign * (coin.coin + int(coin.terms["amount"]["createdAt"]["number"]) * rate)
                owner[1] += sign * rate
        assert [[party, [*numbers(change).values()]] for party, change in summary["balanceChanges"]] == sorted(
            map(list, changes.items())
        )
        assert {coin.terms["owner"] for coin in used} <= {sender}
        assert {coin.terms["amount"]["createdAt"]["number"] for coin in made} <= {str(fees.round)}
        assert [*map(Decimal, summary["outputFees"])] == [fees.of(output, sender) for output in wanted["outputs"]]
        assert Decimal(summary["holdingFees"]) == sum(map(fees.held, used))
        change, fee = Decimal(summary["senderChangeAmount"]), Decimal(summary["senderChangeFee"])
        assert fee == fees.create or (fee < fees.create and change == 0)
        assert set(event["acting_parties"]) >= {sender, *(one["receiver"] for one in wanted["outputs"])}
        charged.add(fees.create > 0)
    assert charged == {True, False}


class Fees:
    """The fees of an open round, from USD to coin at its price."""

    def __init__(self, opened):
        config, self.round, self.price = opened["transferConfigUsd"], round_number(opened), opened["amuletPrice"]
        self.create = self.coin(config["createFee"]["fee"])
        self.holding = self.coin(config["holdingFee"]["rate"])
        self.lock_holder = self.coin(config["lockHolderFee"]["fee"])
        self.first = Decimal(config["transferFee"]["initialRate"])
        self.steps = [(self.coin(one["_1"]), Decimal(one["_2"])) for one in config["transferFee"]["steps"]]

    def coin(self, usd):
        return rounded(Decimal(usd) / Decimal(self.price))

    def held(self, coin):
        terms = coin.terms["amount"]
        spans = max(0, self.round - int(terms["createdAt"]["number"]))
        return min(coin.coin, rounded(spans * Decimal(terms["ratePerRound"]["rate"]))) if self.create else 0

    def of(self, output, sender):
        holders = len(output["lock"]["holders"]) if output["lock"] else 0
        fixed = self.create + holders * self.lock_holder
        return fixed + (0 if output["receiver"] == sender else self.stepped(Decimal(output["amount"])))

    def stepped(self, amount):
        total, rate, since = Decimal(0), self.first, Decimal(0)
        for until, following in [*self.steps, (max(amount, self.steps[-1][0]), None)]:
            total += rounded(max(Decimal(0), min(amount, until) - since) * rate)
            rate, since = following, until
        return total


def test_traffic_costs_its_price(books):
    for _, event, _ in books.exercises("AmuletRules_BuyMemberTraffic"):
        told, result = event["choice_argument"], event["exercise_result"]
        bought = books.lives[result["purchasedTraffic"]].payload
        assert [bought["memberId"], bought["totalPurchased"]] == [told["memberId"], told["trafficAmount"]]
        usd = int(told["trafficAmount"]) * Decimal("16.67") / 10**6
        assert Decimal(bought["usdSpent"]) == rounded(usd)
        paid = rounded(usd / Decimal(result["summary"]["amuletPrice"]))
        assert Decimal(bought["amuletSpent"]) == Decimal(result["amuletPaid"]) == paid


@pytest.fixture(scope="module")
def amount(books):
    """What contracts that state an amount state together."""
    return lambda *contracts: sum(Decimal(books.lives[one].payload["amount"]) for one in contracts if one)


def test_what_is_allotted_merged_or_converted_is_what_there_was(books, amount):
    for _, event, _ in books.exercises("AmuletRules_AllocateDevelopmentFundCoupon"):
        shares, result = event["choice_argument"]["unclaimedDevelopmentFundCouponCids"], event["exercise_result"]
        left = result["optUnclaimedDevelopmentFundCouponCid"]
        assert amount(*shares) == amount(result["developmentFundCouponCid"], left)
    endings = (f"DevelopmentFundCoupon_{one}" for one in ("Reject", "Withdraw", "DsoExpire"))
    for item, event, _ in books.exercises(*endings):
        ended = books.lives[event["contract_id"]]
        returned = amount(event["exercise_result"]["unclaimedDevelopmentFundCouponCid"])
        assert returned == Decimal(ended.payload["amount"])
        assert (item["record_time"] >= ended.payload["expiresAt"]) == event["choice"].endswith("DsoExpire")
    for _, event, _ in books.exercises("AmuletRules_MergeUnclaimedRewards"):
        merged = event["choice_argument"]["unclaimedRewardCids"]
        assert amount(*merged) == amount(event["exercise_result"]["unclaimedRewardCid"])
    converted = Counter()
    for _, event, _ in books.exercises("AmuletRules_ConvertFeaturedAppActivityMarkers"):
        opened, sums = books.lives[event["choice_argument"]["openMiningRoundCid"]].payload, defaultdict(Decimal)
        for one in map(books.lives.get, event["choice_argument"]["markerCids"]):
            sums[one.payload["provider"], one.payload["beneficiary"]] += Decimal(one.payload["weight"])
        coupons = [books.lives[one].payload for one in event["exercise_result"]["appRewardCouponCids"]]
        unit = rounded(1 / Decimal(opened["amuletPrice"]))
        assert {(one["provider"], one["beneficiary"]): Decimal(one["amount"]) for one in coupons} == {
            key: rounded(weight * unit) for key, weight in ({} if by_traffic(opened) else sums).items()
        }
        converted.update(event["choice_argument"]["markerCids"])
    assert set(converted.values()) <= {1}


def test_tokens_move_without_loss_as_logs_say(books, amount):
    for _, event, below in books.exercises("TransferFactory_Transfer", "Rules_Settle"):
        held = [one for one in below if one["template_id"].endswith(":Harbor.Token:Holding")]
        ended = [one["contract_id"] for one in held if one["event_type"] != "created_event"]
        made = [one["contract_id"] for one in held if one["event_type"] == "created_event"]
        assert amount(*ended) == amount(*made), event["event_id"]
    for _, event, _ in books.exercises("EventLog_HoldingsChange"):
        log, signs = event["choice_argument"], {"SenderSide": -1, "ReceiverSide": 1}
        holdings = (*log["inputHoldingCids"], *log["outputHoldingCids"])
        assert {books.lives[one].payload["owner"] for one in holdings} == {log["account"]["owner"]}
        legs = sum(signs[one["side"]] * Decimal(one["amount"]) for one in log["transferLegSides"])
        kind = log["extraArgs"]["meta"]["values"].get("splice.lfdecentralizedtrust.org/tx-kind")
        changed = amount(*log["outputHoldingCids"]) - amount(*log["inputHoldingCids"])
        assert changed == legs or kind in ("mint", "burn")


def test_licenses_and_reward_states_count_what_was_given(books):
    given = defaultdict(list)
    for life in books.of(*KINDS):
        given[life.payload.get("sv", life.payload.get("validator"))].append(round_number(life.payload))
    seen = Counter()
    for life in books.active().values():
        state = life.payload.get("faucetState") or life.payload.get("state")
        if life.entity == "Splice.ValidatorLicense:ValidatorLicense" and state:
            own = given[life.payload["validator"]]
            assert [int(state[f"{which}ReceivedFor"]["number"]) for which in ("first", "last")] == [own[0], own[-1]]
            assert int(state["numCouponsMissed"]) == own[-1] - own[0] + 1 - len(own)
            seen[life.entity] += 1
        if life.entity == "Splice.DSO.SvState:SvRewardState":
            (own,) = (rounds for party, rounds in given.items() if party and party.startswith(life.payload["svName"]))
            assert int(state["lastRoundCollected"]["number"]) == max(own)
            assert int(state["numRoundsCollected"]) == len(set(own)) == max(own) + 1 - int(state["numRoundsMissed"])
            assert int(state["numCouponsIssued"]) == len(own)
            seen[life.entity] += 1
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0E-10", 0), ("-1.43E-8", -143), ("1", 10**10), ("12.5000000000", 125 * 10**9), ("-0.0000000001", -1)],
)
def test_amounts_are_read_in_every_spelling(text, amount):
    assert units(text) == amount
