"""The economy of a history, worked out anew with plain decimals from its items alone; the tests of it compare."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext

COIN, LOCKED = "Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet"
EXACT = Context(prec=120)
PLACES = Decimal("1e-10")
YEAR = 365 * 86_400 * 10**6
KINDS = {
    "Splice.Amulet:AppRewardCoupon", "Splice.Amulet:ValidatorRewardCoupon", "Splice.Amulet:SvRewardCoupon",
    "Splice.ValidatorLicense:ValidatorFaucetCoupon", "Splice.ValidatorLicense:ValidatorLivenessActivityRecord",
}  # fmt: skip
FUND = "Splice.Amulet:DevelopmentFundCoupon"
REWARD = "Splice.Amulet:RewardCouponV2"
#: Of each template of coupons: what states its weight, and what its round issues for it.
WEIGHTS = {
    "AppRewardCoupon": ("amount", "issuancePer{}AppRewardCoupon"),
    "ValidatorRewardCoupon": ("amount", "issuancePerValidatorRewardCoupon"),
    "SvRewardCoupon": ("weight", "issuancePerSvRewardCoupon"),
    "ValidatorFaucetCoupon": (None, "optIssuancePerValidatorFaucetCoupon"),
    "ValidatorLivenessActivityRecord": (None, "optIssuancePerValidatorFaucetCoupon"),
}
PHASES = ("Open", "Summarizing", "Issuing", "Closed")


def rounded(value):
    """Ten decimal places, half to even, as the ledger rounds every product and quotient."""
    return EXACT.quantize(value, PLACES)


assert EXACT.rounding == ROUND_HALF_EVEN


def number(text):
    return Decimal(text)


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


def worth_of(entity, coupon, issuing):
    """What a coupon is worth in its issuing round, unrounded."""
    weight, issuance = WEIGHTS[entity.partition(":")[2]]
    issuance = issuance.format("Featured" if coupon.get("featured") else "Unfeatured")
    return Decimal(coupon[weight] if weight else 1) * Decimal(issuing[issuance])


def by_traffic(mining_round):
    """Whether a round's apps are rewarded by coupons of the second version."""
    return (mining_round.get("rewardConfig") or {}).get("mintingVersion") == "RewardVersion_TrafficBasedAppRewards"


class Books:
    """What a history's transactions did; every method that sees something wrong raises AssertionError.

    That the change of each is minted less burned, and that coupons are paid as they weigh, is left to the package's own
    checks in `tests/economics/test_books_balance.py`.

    Args:
        dated: whether times of records are those at which things happen; a hostile ledger dates them oddly.

    Attributes:
        created: entity and payload of every contract, by id.
        active: the ids of those that have not ended.
        seen: how often each choice was exercised.
    """

    def __init__(self, *, dated=True):
        self.dated = dated
        self.created, self.active = {}, {}
        self.seen = defaultdict(int)
        self.supply = Decimal(0)
        self.phases = defaultdict(dict)
        self.coupons = defaultdict(dict)
        self.outcomes = {}
        self.confirmed = defaultdict(list)
        self.faucets = defaultdict(list)
        self.transfers = []
        self.converted = []
        self.fund_ends = defaultdict(int)

    def read(self, items):
        with localcontext(EXACT):
            for item in items:
                if "events_by_id" in item:
                    self._transaction(item)
        return self

    def _transaction(self, item):
        events = list(preorder(item))
        for event in events:
            if event["event_type"] == "created_event":
                self.supply += self._create(event)
            elif event["event_type"] == "exercised_event":
                self._exercise(event, item)
        for event in events:
            if event["event_type"] == "exercised_event" and event["consuming"]:
                self.supply -= self._end(event)
        for event in events:
            if event.get("choice") == "AmuletRules_Transfer":
                self._transfer(event, item)

    def _create(self, event):
        entity, payload, contract_id = entity_of(event), event["create_arguments"], event["contract_id"]
        assert contract_id not in self.created
        self.created[contract_id] = (entity, payload)
        self.active[contract_id] = event
        if entity.startswith("Splice.Round:"):
            self._phase(entity.removeprefix("Splice.Round:").removesuffix("MiningRound"), payload)
        if entity in KINDS:
            self.coupons[round_number(payload)][contract_id] = (entity, payload)
            self._coupon(entity, payload, event)
        if entity not in (COIN, LOCKED):
            return Decimal(0)
        coin = coin_payload(entity, payload)
        holders = payload["lock"]["holders"] if entity == LOCKED else []
        assert set(event["signatories"]) == {coin["dso"], coin["owner"], *holders}
        assert number(coin["amount"]["initialAmount"]) > 0
        return number(coin["amount"]["initialAmount"])

    def _coupon(self, entity, payload, event):
        assert "Open" in self.phases[round_number(payload)]
        assert "Summarizing" not in self.phases[round_number(payload)]
        assert not (entity.endswith(":AppRewardCoupon") and by_traffic(self.phases[round_number(payload)]["Open"]))
        assert payload["dso"] in event["signatories"]
        if "beneficiary" in payload or "validator" in payload:
            claimer = payload.get("beneficiary") or payload.get("provider") or payload["validator"]
            assert claimer in {*event["observers"], *event["signatories"]}
        if entity.startswith("Splice.ValidatorLicense:"):
            assert round_number(payload) not in self.faucets[payload["validator"]]
            self.faucets[payload["validator"]].append(round_number(payload))
        elif entity.endswith(":SvRewardCoupon"):
            assert int(payload["weight"]) > 0
        else:
            assert number(payload["amount"]) > 0

    def _phase(self, phase, payload):
        at = round_number(payload)
        before = PHASES[: PHASES.index(phase)]
        assert list(self.phases[at]) == list(before), (at, phase)
        self.phases[at][phase] = payload
        if phase == "Open":
            assert at == len([one for one in self.phases.values() if "Open" in one]) - 1
        if phase == "Issuing":
            self._check_issuance(at)
        if phase == "Closed":
            issuing = self.phases[at]["Issuing"]
            assert payload == {name: text for name, text in issuing.items() if name in payload}
            assert set(issuing) - set(payload) == {"opensAt", "targetClosesAt"}
        if phase == "Summarizing":
            opened = self.phases[at]["Open"]
            assert payload == {name: opened[name] for name in payload}

    def totals(self, at):
        """The weights of a round's coupons."""
        sums = dict.fromkeys(("validator", "featured", "unfeatured", "sv", "faucet"), Decimal(0))
        for entity, payload in self.coupons[at].values():
            if entity.endswith(":AppRewardCoupon"):
                sums["featured" if payload["featured"] else "unfeatured"] += number(payload["amount"])
            elif entity.endswith(":ValidatorRewardCoupon"):
                sums["validator"] += number(payload["amount"])
            elif entity.endswith(":SvRewardCoupon"):
                sums["sv"] += int(payload["weight"])
            else:
                sums["faucet"] += 1
        return sums

    def _check_issuance(self, at):
        """Every kind gets the lesser of its cap and its share per weight; the super validators get the remainder."""
        summarized, issuing, totals = self.phases[at]["Summarizing"], self.phases[at]["Issuing"], self.totals(at)
        config = {name: number(text) for name, text in summarized["issuanceConfig"].items() if text is not None}
        tick = int(summarized["tickDuration"]["microseconds"])
        whole = rounded(config["amuletToIssuePerYear"] * tick / YEAR)
        fund = rounded(whole * config.get("optDevelopmentFundPercentage", 0))
        validators = rounded((whole - fund) * config["validatorRewardPercentage"])
        apps = rounded((whole - fund) * config["appRewardPercentage"])

        def each(share, cap, weights):
            return min(cap, rounded(share / weights)) if weights else cap

        validator = each(validators, config["validatorRewardCap"], totals["validator"])
        left = max(Decimal(0), validators - rounded(validator * totals["validator"]))
        faucet = each(
            left, rounded(config["optValidatorFaucetCap"] / number(summarized["amuletPrice"])), totals["faucet"]
        )
        featured = each(apps, config["featuredAppRewardCap"], totals["featured"])
        # A share that was rounded up leaves nothing.
        left = max(Decimal(0), apps - rounded(featured * totals["featured"]))
        unfeatured = each(left, config["unfeaturedAppRewardCap"], totals["unfeatured"])
        sv = rounded((whole - validators - apps - fund) / totals["sv"]) if totals["sv"] else Decimal(0)
        assert {name: number(issuing[name]) for name in issuing if "ssuancePer" in name} == {
            "issuancePerValidatorRewardCoupon": validator,
            "issuancePerFeaturedAppRewardCoupon": featured,
            "issuancePerUnfeaturedAppRewardCoupon": unfeatured,
            "issuancePerSvRewardCoupon": sv,
            "optIssuancePerValidatorFaucetCoupon": faucet,
        }

    def _exercise(self, event, item):
        choice, result, argument = event["choice"], event["exercise_result"], event["choice_argument"]
        self.seen[choice] += 1
        if choice == "AmuletRules_BuyMemberTraffic":
            self._check_traffic(argument, result, item)
        elif choice in ("AmuletRules_DevNet_Tap", "AmuletRules_Mint"):
            made = self._new(item, result["amuletSum"]["amulet"])
            assert made["amount"]["initialAmount"] == argument["amount"]
        elif choice in ("Amulet_Expire", "LockedAmulet_ExpireAmulet"):
            self._check_dust(event)
        else:
            self._decision(event, item)

    def _decision(self, event, item):
        """What the members do: nothing that mints or burns."""
        choice, result, argument = event["choice"], event["exercise_result"], event["choice_argument"]
        if choice == "DsoRules_ClaimExpiredRewards":
            self._check_expired(event, item)
        elif choice == "DsoRules_ConfirmAction":
            action = argument["action"]["value"]["amuletRulesAction"]
            self.confirmed[json.dumps(action, sort_keys=True)].append(argument["confirmer"])
        elif choice == "DsoRules_ExecuteConfirmedAction":
            self._check_executed(argument)
        elif choice.startswith(("AmuletRules_AllocateDevelopment", "DevelopmentFundCoupon_")):
            self._check_fund(event, item)
        elif choice == "AmuletRules_MergeUnclaimedRewards":
            merged = sum(number(self.created[one][1]["amount"]) for one in argument["unclaimedRewardCids"])
            assert number(self._new(item, result["unclaimedRewardCid"])["amount"]) == merged
        elif choice == "AmuletRules_ConvertFeaturedAppActivityMarkers":
            self._check_converted(argument, result, item)
        elif choice.endswith("_DsoExpire"):
            assert self.created[argument["closedRoundCid"]][0] == "Splice.Round:ClosedMiningRound"
            self.outcomes[event["contract_id"]] = "expired"

    @staticmethod
    def _new(item, contract_id):
        made = [
            one["create_arguments"]
            for one in item["events_by_id"].values()
            if one["event_type"] == "created_event" and one["contract_id"] == contract_id
        ]
        assert len(made) == 1
        return made[0]

    def _end(self, event):
        contract_id = event["contract_id"]
        entity, payload = self.created[contract_id]
        del self.active[contract_id]
        if entity in KINDS:
            self.outcomes.setdefault(contract_id, "claimed")
        if entity not in (COIN, LOCKED):
            return Decimal(0)
        return number(coin_payload(entity, payload)["amount"]["initialAmount"])

    def _check_traffic(self, argument, result, item):
        bought = self._new(item, result["purchasedTraffic"])
        for name in ("memberId", "synchronizerId", "migrationId"):
            assert bought[name] == argument[name]
        assert bought["totalPurchased"] == argument["trafficAmount"]
        assert bought["amuletSpent"] == result["amuletPaid"]
        usd = int(argument["trafficAmount"]) * Decimal("16.67") / 10**6
        assert number(bought["usdSpent"]) == rounded(usd)
        assert number(result["amuletPaid"]) == rounded(usd / number(result["summary"]["amuletPrice"]))

    def _check_dust(self, event):
        """A coin may end once its holding fees have eaten it up by an open round."""
        entity, payload = self.created[event["contract_id"]]
        amount = coin_payload(entity, payload)["amount"]
        initial, rate = number(amount["initialAmount"]), number(amount["ratePerRound"]["rate"])
        lasts = -(-initial // rate) if initial % rate == 0 else initial // rate + 1
        now = round_number(self.created[event["choice_argument"]["roundCid"]][1])
        created = int(amount["createdAt"]["number"])
        assert created + lasts <= now
        told = event["exercise_result"]["expireSum"]
        assert told["round"] == {"number": str(now)}
        assert number(told["changeToInitialAmountAsOfRoundZero"]) == -(initial + created * rate)
        assert number(told["changeToHoldingFeesRate"]) == -rate

    def _check_expired(self, event, item):
        """What expires together is of one round, and each coupon states what it was."""
        choice = event["choice_argument"]["choiceArg"]
        closed = self.created[choice["closedRoundCid"]][1]
        ids = [one for name, value in choice.items() if name.endswith("Cids") for one in value or []]
        children = [item["events_by_id"][one] for one in event["child_event_ids"]]
        expired = [one for one in children if one.get("choice", "").endswith("_DsoExpire")]
        assert [one["contract_id"] for one in expired] == ids
        assert ids
        for one in expired:
            entity, payload = self.created[one["contract_id"]]
            assert round_number(payload) == round_number(closed)
            result = one["exercise_result"]
            name = "weight" if entity.endswith(":SvRewardCoupon") else "amount"
            assert result == (
                f"{entity.partition(':')[2]}_DsoExpireResult"
                if isinstance(result, str)
                else {member: payload[member] for member in ("featured", name) if member in payload}
            )

    def _check_fund(self, event, item):
        """What is allotted, and what comes back, is what there was."""
        choice, result, argument = event["choice"], event["exercise_result"], event["choice_argument"]
        if choice != "AmuletRules_AllocateDevelopmentFundCoupon":
            payload = self.created[event["contract_id"]][1]
            acting = {"Reject": "beneficiary", "Withdraw": "fundManager", "DsoExpire": "dso"}[choice.partition("_")[2]]
            assert event["acting_parties"] == [payload[acting]]
            assert self._new(item, result["unclaimedDevelopmentFundCouponCid"])["amount"] == payload["amount"]
            assert not self.dated or (item["record_time"] >= payload["expiresAt"]) == (acting == "dso")
            self.fund_ends[choice] += 1
            return
        shares = [self.created[one] for one in argument["unclaimedDevelopmentFundCouponCids"]]
        assert {entity for entity, _ in shares} == {"Splice.Amulet:UnclaimedDevelopmentFundCoupon"}
        coupon = self._new(item, result["developmentFundCouponCid"])
        left = self._new(item, result["optUnclaimedDevelopmentFundCouponCid"])
        whole = sum(number(payload["amount"]) for _, payload in shares)
        assert number(coupon["amount"]) + number(left["amount"]) == whole
        terms = {name: value for name, value in argument.items() if name != "unclaimedDevelopmentFundCouponCids"}
        assert terms == {name: value for name, value in coupon.items() if name != "dso"}
        assert event["acting_parties"] == [coupon["fundManager"]]

    def _check_executed(self, argument):
        """Three members have confirmed the very same action, and its totals are those of the round's coupons."""
        action = argument["action"]["value"]["amuletRulesAction"]
        assert len(set(self.confirmed.pop(json.dumps(action, sort_keys=True)))) >= 3
        if action["tag"] == "CRARC_MiningRound_StartIssuing":
            totals = self.totals(round_number(self.created[action["value"]["miningRoundCid"]][1]))
            told = action["value"]["summary"]
            assert {name: number(text) for name, text in told.items()} == {
                "totalValidatorRewardCoupons": totals["validator"],
                "totalFeaturedAppRewardCoupons": totals["featured"],
                "totalUnfeaturedAppRewardCoupons": totals["unfeatured"],
                "totalSvRewardWeight": totals["sv"],
                "optTotalValidatorFaucetCoupons": totals["faucet"],
            }

    def _check_converted(self, argument, result, item):
        opened = self.created[argument["openMiningRoundCid"]][1]
        unit = rounded(1 / number(opened["amuletPrice"]))
        weights = defaultdict(Decimal)
        for one in argument["markerCids"]:
            marker = self.created[one][1]
            weights[marker["provider"], marker["beneficiary"]] += number(marker["weight"])
        if by_traffic(opened):
            weights = {}
        coupons = [self._new(item, one) for one in result["appRewardCouponCids"]]
        assert {(one["provider"], one["beneficiary"]): number(one["amount"]) for one in coupons} == {
            key: rounded(weight * unit) for key, weight in weights.items()
        }
        assert all(one["featured"] and one["round"] == opened["round"] for one in coupons)
        self.converted += argument["markerCids"]

    def _transfer(self, event, item):
        """A transfer's summary follows from its inputs, its outputs and the configuration of its open round."""
        told, result = event["choice_argument"], event["exercise_result"]
        wanted, summary = told["transfer"], result["summary"]
        entity, opened = self.created[told["context"]["openMiningRound"]]
        assert entity == "Splice.Round:OpenMiningRound"
        assert result["round"] == opened["round"]
        assert summary["amuletPrice"] == opened["amuletPrice"]
        fees = Fees(opened)
        changes = defaultdict(lambda: [Decimal(0), Decimal(0)])
        sums = defaultdict(Decimal)
        for one in wanted["inputs"]:
            self._input(one, wanted["sender"], fees, told["context"], sums, changes)
        for name in ("App", "Validator", "Sv"):
            assert number(summary[f"input{name}RewardAmount"]) == sums[name], name
        assert number(summary["inputValidatorFaucetAmount"]) == sums["Faucet"]
        assert number(summary["inputAmuletAmount"]) == sums["Coin"]
        assert number(summary["holdingFees"]) == sums["Holding"]
        assert number(summary["inputDevelopmentFundAmount"] or 0) == sums["Fund"]
        left = sums["Coin"] - sums["Holding"] + sums["App"] + sums["Validator"] + sums["Sv"] + sums["Fund"]
        assert len(wanted["outputs"]) == len(summary["outputFees"]) == len(result["createdAmulets"])
        for output, fee, made in zip(wanted["outputs"], summary["outputFees"], result["createdAmulets"], strict=True):
            amount, ratio = number(output["amount"]), number(output["receiverFeeRatio"])
            assert number(fee) == fees.of(output, wanted["sender"])
            left -= amount + (1 - ratio) * number(fee)
            payload = self._new(item, made["value"])
            assert (made["tag"] == "TransferResultLockedAmulet") == (output["lock"] is not None)
            assert payload.get("lock") == output["lock"]
            coin = payload.get("amulet", payload)
            self._made(coin, output["receiver"], amount - ratio * number(fee), opened, fees, changes)
        assert number(summary["senderChangeFee"]) == min(left, fees.create)
        left -= min(left, fees.create)
        assert number(summary["senderChangeAmount"]) == left >= 0
        if left:
            coin = self._new(item, result["senderChangeAmulet"])
            self._made(coin, wanted["sender"], left, opened, fees, changes)
        else:
            assert result["senderChangeAmulet"] is None
        assert summary["balanceChanges"] == sorted(summary["balanceChanges"])
        assert {
            party: (
                number(change["changeToInitialAmountAsOfRoundZero"]),
                number(change["changeToHoldingFeesRate"]),
            )
            for party, change in summary["balanceChanges"]
        } == {party: tuple(change) for party, change in changes.items()}
        self._check_meta(wanted, summary, result)
        assert set(event["acting_parties"]) >= {wanted["sender"], *(one["receiver"] for one in wanted["outputs"])}
        self.transfers.append((fees.create > 0, summary))

    def _input(self, one, sender, fees, context, sums, changes):
        value = one["value"]
        contract_id = value["optInputValidatorFaucetCoupon"] if one["tag"] == "ExtTransferInput" else value
        entity, payload = self.created[contract_id]
        if one["tag"] == "InputAmulet":
            assert payload["owner"] == sender
            amount = payload["amount"]
            initial, rate = number(amount["initialAmount"]), number(amount["ratePerRound"]["rate"])
            rounds = max(0, fees.round - int(amount["createdAt"]["number"]))
            sums["Coin"] += initial
            sums["Holding"] += min(initial, rounded(rounds * rate)) if fees.create else 0
            changes[sender][0] -= initial + int(amount["createdAt"]["number"]) * rate
            changes[sender][1] -= rate
            return
        if one["tag"] == "InputDevelopmentFundCoupon":
            assert (entity, payload["beneficiary"]) == (FUND, sender)
            sums["Fund"] += number(payload["amount"])
            self.fund_ends["claimed"] += 1
            return
        if one["tag"] == "InputRewardCouponV2":
            assert (entity, payload["beneficiary"] or payload["provider"]) == (REWARD, sender)
            sums["App"] += number(payload["amount"])
            return
        at = round_number(payload)
        issuing = {int(key["number"]): cid for key, cid in context["issuingMiningRounds"]}
        assert self.created[issuing[at]][0] == "Splice.Round:IssuingMiningRound"
        worth = rounded(worth_of(entity, payload, self.phases[at]["Issuing"]))
        kind = entity.partition(":")[2]
        if kind == "ValidatorRewardCoupon":
            # A scan does not show the right, which its user and its validator sign.
            right_id = dict(context["validatorRights"])[payload["user"]]
            right = self.created.get(right_id, (None, {"user": payload["user"], "validator": sender}))[1]
            assert (right["user"], right["validator"]) == (payload["user"], sender)
        else:
            assert sender == (payload.get("beneficiary") or payload.get("provider") or payload["validator"])
        name = {"AppRewardCoupon": "App", "SvRewardCoupon": "Sv"}.get(kind, "Validator")
        sums[name] += worth
        if kind.startswith(("ValidatorFaucet", "ValidatorLiveness")):
            sums["Faucet"] += worth
        self.outcomes[contract_id] = "claimed"

    @staticmethod
    def _made(coin, owner, amount, opened, fees, changes):
        terms = coin["amount"]
        assert coin["owner"] == owner
        assert number(terms["initialAmount"]) == amount
        assert terms["createdAt"] == opened["round"]
        assert number(terms["ratePerRound"]["rate"]) == fees.holding
        changes[owner][0] += amount + fees.round * fees.holding
        changes[owner][1] += fees.holding

    @staticmethod
    def _check_meta(wanted, summary, result):
        values = dict(result["meta"]["values"])
        own = all(one["receiver"] == wanted["sender"] for one in wanted["outputs"])
        assert values.pop("splice.lfdecentralizedtrust.org/tx-kind") == ("merge-split" if own else "transfer")
        assert values.pop("splice.lfdecentralizedtrust.org/sender", None) == (None if own else wanted["sender"])
        burned = number(values.pop("splice.lfdecentralizedtrust.org/burned", "0"))
        paid = number(summary["holdingFees"]) + number(summary["senderChangeFee"])
        assert burned == paid + sum(map(number, summary["outputFees"]))
        values.pop("splice.lfdecentralizedtrust.org/reason", None)
        told = {name: number(summary[f"input{name.title()}RewardAmount"]) for name in ("app", "validator", "sv")}
        assert {name: number(text) for name, text in values.items()} == {
            f"amulet.splice.lfdecentralizedtrust.org/{name}-rewards": amount for name, amount in told.items() if amount
        }


class Fees:
    """The fees of an open round, from USD to coin at its price."""

    def __init__(self, opened):
        config, self.round = opened["transferConfigUsd"], round_number(opened)
        price = number(opened["amuletPrice"])
        self.create = rounded(number(config["createFee"]["fee"]) / price)
        self.holding = rounded(number(config["holdingFee"]["rate"]) / price)
        self.lock_holder = rounded(number(config["lockHolderFee"]["fee"]) / price)
        self.first = number(config["transferFee"]["initialRate"])
        self.steps = [(rounded(number(one["_1"]) / price), number(one["_2"])) for one in config["transferFee"]["steps"]]

    def of(self, output, sender):
        holders = len(output["lock"]["holders"]) if output["lock"] else 0
        fixed = self.create + holders * self.lock_holder
        return fixed + (0 if output["receiver"] == sender else self.stepped(number(output["amount"])))

    def stepped(self, amount):
        total, rate, since = Decimal(0), self.first, Decimal(0)
        for until, following in self.steps:
            total += rounded(max(Decimal(0), min(amount, until) - since) * rate)
            rate, since = following, until
        return total + rounded(max(Decimal(0), amount - since) * rate)
