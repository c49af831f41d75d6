"""The books of a history, kept from its raw items by nothing that the models share: the tables are held against them.

`tests/sandbox/economy_books.py` holds what the sandbox generates against the rules of the network instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ledgerframes.timestamps import to_micros
from tests.sandbox.economy_books import (
    COIN,
    EXACT,
    FUND,
    KINDS,
    LOCKED,
    coin_payload,
    entity_of,
    round_number,
    rounded,
    worth_of,
)

DAY = 86_400_000_000
RULES, OPEN = "Splice.AmuletRules:AmuletRules", "Splice.Round:OpenMiningRound"
UNCLAIMED, UNCLAIMED_FUND = "Splice.Amulet:UnclaimedReward", "Splice.Amulet:UnclaimedDevelopmentFundCoupon"
POOLS = {
    UNCLAIMED: "unclaimed_rewards", UNCLAIMED_FUND: "development_fund_unallocated", FUND: "development_fund_allocated",
}  # fmt: skip
#: What the simulated ledger's locks say of themselves.
SAID = {
    None: "other", "escrow of a sale": "other", "vesting of an employee": "vesting", "CNS payment": "payment",
    "lock of a featured app": "governance", "lock of a super validator": "governance",
}  # fmt: skip
#: Of each kind of mint, what a payment's summary states, and what that contains besides.
MINTED = {
    "minted_app": ("inputAppRewardAmount", None), "minted_sv": ("inputSvRewardAmount", None),
    "minted_validator": ("inputValidatorRewardAmount", "inputValidatorFaucetAmount"),
    "minted_validator_faucet": ("inputValidatorFaucetAmount", None),
    "minted_unclaimed_activity": ("inputUnclaimedActivityRecordAmount", None),
    "minted_development_fund": ("inputDevelopmentFundAmount", None),
}  # fmt: skip
TRANSFER, TRAFFIC = "AmuletRules_Transfer", "AmuletRules_BuyMemberTraffic"
PREAPPROVALS = ("AmuletRules_CreateTransferPreapproval", "TransferPreapproval_Renew")
EXPIRIES = ("Amulet_Expire", "LockedAmulet_ExpireAmulet")
COLLECTED = ("SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect")


def micros(time: Any) -> int:
    """A time, of an item or of a table's row, in microseconds since 1970."""
    return to_micros(time, "time")


def decimal(text: str | None) -> Decimal:
    """An amount; one that is not stated is 0."""
    return Decimal(text or 0)


def steps(item: dict[str, Any]) -> Iterator[tuple[dict[str, Any], tuple[str, ...], list[dict[str, Any]]]]:
    """The events of a transaction, each with the choices above it and the events right below it.

    In order from the roots; those that no root reaches come last.
    """
    events, waiting = item["events_by_id"], [(root, ()) for root in reversed(item["root_event_ids"])]
    left = dict(events)
    while waiting or left:
        key, above = waiting.pop() if waiting else (next(iter(left)), ())
        event = events[key]
        left.pop(key, None)
        below = event.get("child_event_ids", [])
        yield event, above, [events[child] for child in below]
        waiting += [(child, (*above, event.get("choice", ""))) for child in reversed(below)]


def leg_of(item: dict[str, Any]) -> dict[str, Any]:
    """A leg of a reassignment with its contract and its time."""
    return {"at": micros(item["record_time"])} | (item["event"].get("created_event") or {}) | item["event"]


@dataclass
class Life:
    """A contract: its create, and what became of it.

    Attributes:
        event: the create.
        since: when it was recorded.
        above: the choices above it.
        place: the synchronizer that it is on in the end; None while it is under way.
        counter: how often it was reassigned.
        until: when it ended; None if it has not.
        ending: the choice that ended it.
    """

    event: dict[str, Any]
    since: int
    above: tuple[str, ...]
    place: str | None
    counter: int = 0
    until: int | None = None
    ending: str = ""

    @property
    def day(self) -> int:
        """The day on which it was recorded, from 1970."""
        return self.since // DAY

    def lasts(self, time: int) -> bool:
        """Whether it is there at a time; one that ends in a later migration before its create never is."""
        return self.since <= time and (self.until is None or time < self.until)

    @property
    def entity(self) -> str:
        """The template."""
        return entity_of(self.event)

    @property
    def payload(self) -> Any:
        """The arguments."""
        return self.event["create_arguments"]

    @property
    def terms(self) -> Any:
        """The arguments of a coin, locked or not."""
        return coin_payload(self.entity, self.payload)

    @property
    def coin(self) -> Decimal:
        """The amount of a coin."""
        return Decimal(self.terms["amount"]["initialAmount"])


class Books:
    """What the items of a history say.

    Attributes:
        items: its transactions.
        lives: all contracts by id, in the order in which the items show them.
        legs: those of reassignments.
    """

    def __init__(self, items: Iterable[dict[str, Any]]) -> None:
        every = list(items)
        self.items = [item for item in every if "events_by_id" in item]
        self.legs = [leg_of(item) for item in every if "event" in item]
        self.lives: dict[str, Life] = {}
        ends: dict[str, tuple[int, str]] = {}
        for item in self.items:
            at = micros(item["record_time"])
            for event, above, _ in steps(item):
                if event["event_type"] == "created_event":
                    self.lives.setdefault(event["contract_id"], Life(event, at, above, item["synchronizer_id"]))
                elif event.get("consuming"):
                    # A later migration can begin before the one before it ends, and end what that one creates.
                    end = (at, event.get("choice", ""))
                    ends[event["contract_id"]] = min(end, ends.get(event["contract_id"], end))
        self._reassign()
        for contract, (until, ending) in ends.items():
            if contract in self.lives:
                self.lives[contract].until, self.lives[contract].ending = until, ending

    def _reassign(self) -> None:
        """Move contracts: of each the leg with the highest counter counts, and of two the assignment."""
        moves = defaultdict(list)
        for leg in self.legs:
            created, counter = leg.get("created_event"), leg["reassignment_counter"]
            place = None if created is None else leg["target_synchronizer"]
            moves[leg["contract_id"]].append((counter, created is not None, place))
            if created is not None:
                self.lives.setdefault(leg["contract_id"], Life(created, leg["at"], (), place, counter))
        for contract, own in moves.items():
            counter, _, place = max(own, key=lambda leg: leg[:2])
            if contract in self.lives and counter >= self.lives[contract].counter:
                self.lives[contract].place, self.lives[contract].counter = place, counter

    def of(self, *entities: str) -> Iterator[Life]:
        """The contracts of some templates."""
        return (life for life in self.lives.values() if life.entity in entities)

    def active(self) -> dict[str, Life]:
        """The contracts that no event ended."""
        return {contract: life for contract, life in self.lives.items() if life.until is None}

    @property
    def supply(self) -> Decimal:
        """All coin that there is."""
        return sum((life.coin for life in self.active().values() if life.entity in (COIN, LOCKED)), Decimal(0))

    def exercises(self, *choices: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], Any]]:
        """The exercises of some choices, each with its item and the events right below it."""
        for item in self.items:
            for event, _, below in steps(item):
                if event.get("choice") in choices:
                    yield item, event, below

    def flows(self) -> dict[tuple[Any, ...], list[Any]]:
        """By source, unassign id, contract and counter: when a reassignment began and ended, and its target."""
        found: dict[tuple[Any, ...], list[Any]] = {}
        for leg in self.legs:
            back = leg.get("created_event") is not None
            key = (leg["source_synchronizer"], leg.get("unassign_id"), leg["contract_id"], leg["reassignment_counter"])
            line = found.setdefault(key, [None, None, None])
            line[back] = leg["at"]
            if not back or line[2] is None:
                line[2] = leg["target_synchronizer"]
        return found

    def earliest_round(self) -> int | None:
        """The earliest round that is open in the end."""
        return min((round_number(life.payload) for life in self.active().values() if life.entity == OPEN), default=None)

    def holdings(self, as_of_round: int) -> dict[str, list[Decimal]]:
        """What each party holds, unlocked and locked, and the fees of both, coin by coin."""
        found: dict[str, list[Decimal]] = defaultdict(lambda: [Decimal(0)] * 4)
        for life in self.active().values():
            if life.entity in (COIN, LOCKED):
                terms, locked = life.terms["amount"], life.entity == LOCKED
                rounds = as_of_round - int(terms["createdAt"]["number"])
                fee = rounded(EXACT.multiply(Decimal(terms["ratePerRound"]["rate"]), Decimal(rounds)))
                found[life.terms["owner"]][locked] += life.coin
                found[life.terms["owner"]][2 + locked] += min(life.coin, fee)
        return found

    def stocks(self, time: int) -> tuple[Mapping[str, Decimal], Decimal]:
        """What there is of each stock at a time, and the price of the earliest round that is open then."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for life in self.of(COIN, LOCKED, *POOLS):
            if life.lasts(time):
                kind, amount = stock_of(life)
                sums[kind] += amount
        for item, event, _ in self.exercises(TRANSFER):
            if micros(item["record_time"]) <= time:
                spent = event["exercise_result"]["summary"]["inputDevelopmentFundAmount"]
                sums["development_fund_spent"] += decimal(spent)
        opened = [life.payload for life in self.of(OPEN) if life.lasts(time)]
        return sums, Decimal(min(opened, key=round_number)["amuletPrice"])

    def coupons(self) -> tuple[dict[int, Decimal], dict[int, Decimal], dict[int, Decimal]]:
        """By round: what its coupons minted, what became unclaimed as they expired, what the open ones are worth."""
        issuing = {round_number(life.payload): life.payload for life in self.of("Splice.Round:IssuingMiningRound")}
        minted, expired, left = defaultdict(Decimal), defaultdict(Decimal), defaultdict(Decimal)
        for _, event, below in self.exercises("DsoRules_ClaimExpiredRewards"):
            (amount,) = (one["create_arguments"]["amount"] for one in below if entity_of(one) == UNCLAIMED)
            closed = self.lives[event["choice_argument"]["choiceArg"]["closedRoundCid"]]
            expired[round_number(closed.payload)] += Decimal(amount)
        for life in self.of(*KINDS):
            number = round_number(life.payload)
            if life.until is None and number in issuing:
                left[number] += rounded(worth_of(life.entity, life.payload, issuing[number]))
            elif life.until is not None and not life.ending.endswith("_DsoExpire"):
                minted[number] += rounded(worth_of(life.entity, life.payload, issuing[number]))
        return minted, expired, {number: left[number] for number in issuing}

    def entries(self) -> dict[str, dict[tuple[str, str, str | None], Decimal]]:
        """Of each update what its payments, taps and expiries state, by kind, party and counterparty."""
        return {item["update_id"]: self._entries(item) for item in self.items}

    def _entries(self, item: dict[str, Any]) -> dict[tuple[str, str, str | None], Decimal]:
        entries: dict[tuple[str, str, str | None], Decimal] = defaultdict(Decimal)
        for event, above, below in steps(item):
            choice, stated, told = event.get("choice", ""), event.get("exercise_result"), event.get("choice_argument")
            if choice == TRANSFER:
                paid(event, above, entries)
            elif choice == TRAFFIC:
                entries["burned_traffic", told["provider"], None] -= decimal(stated["amuletPaid"])
            elif choice in PREAPPROVALS:
                entries["burned_preapprovals", payer_of(event), None] -= decimal(stated["amuletPaid"])
            elif choice in COLLECTED:
                (payment,) = (child for child in below if child.get("choice") == TRANSFER)
                payer = payment["choice_argument"]["transfer"]["sender"]
                entries["burned_names", payer, None] -= self.lives[stated["amulet"]].coin
            elif choice in ("AmuletRules_DevNet_Tap", "AmuletRules_Mint"):
                made = self.lives[stated["amuletSum"]["amulet"]]
                entries["minted_tap" if "Tap" in choice else "minted_other", made.terms["owner"], None] += made.coin
            elif choice in EXPIRIES and event["contract_id"] in self.lives:
                ended = self.lives[event["contract_id"]]
                entries["burned_expiry", ended.terms["owner"], None] -= ended.coin
        return {key: amount for key, amount in entries.items() if amount}

    def changes(self) -> dict[str, dict[str, list[Decimal]]]:
        """Of each update how much coin, and locked coin, each party has more after it."""
        found: dict[str, dict[str, list[Decimal]]] = {}
        for item in self.items:
            own = found[item["update_id"]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
            for event, _, _ in steps(item):
                created = event["event_type"] == "created_event"
                if entity_of(event) in (COIN, LOCKED) and (created or event["consuming"]):
                    life = self.lives[event["contract_id"]]
                    change = life.coin if created else -life.coin
                    own[life.terms["owner"]][0] += change
                    own[life.terms["owner"]][1] += change if life.entity == LOCKED else 0
        return found


def stock_of(life: Life) -> tuple[str, Decimal]:
    """Which stock a contract is of, and how much of it."""
    if life.entity in POOLS:
        return POOLS[life.entity], Decimal(life.payload["amount"])
    if life.entity == COIN:
        return "unlocked", life.coin
    said = life.payload["lock"]["optContext"]
    return f"locked_{'transfer' if (said or '').startswith('transfer to ') else SAID[said]}", life.coin


def payer_of(event: dict[str, Any]) -> str:
    """Who pays for traffic or a preapproval; a renewal names its provider in the result alone."""
    payer: str = event["choice_argument"].get("provider") or event["exercise_result"]["provider"]
    return payer


def prices_in(result: Any) -> set[Decimal]:
    """The prices that a result's summary states, wherever it is in it."""
    if not isinstance(result, dict):
        return set()
    own = {Decimal(result["amuletPrice"])} if "amuletPrice" in result else set()
    return own.union(*map(prices_in, result.values()))


def paid(event: dict[str, Any], above: tuple[str, ...], entries: dict[tuple[str, str, str | None], Decimal]) -> None:
    """What a transfer mints, burns in fees and moves, by kind, party and counterparty."""
    terms, summary = event["choice_argument"]["transfer"], event["exercise_result"]["summary"]
    sender, fees = terms["sender"], [decimal(fee) for fee in summary["outputFees"]]
    for kind, (name, inside) in MINTED.items():
        entries[kind, sender, None] += decimal(summary.get(name)) - decimal(summary.get(inside))
    entries["burned_fees", sender, None] -= decimal(summary["holdingFees"]) + decimal(summary["senderChangeFee"])
    # Of traffic the fees of outputs are in what was paid.
    if TRAFFIC in above:
        return
    entries["burned_fees", sender, None] -= sum(fees)
    if {*above} & {*PREAPPROVALS} or any(choice.startswith("AnsEntryContext_Collect") for choice in above):
        return
    for sent, fee in zip(terms["outputs"], fees, strict=True):
        receiver, amount = sent["receiver"], decimal(sent["amount"])
        if receiver != sender:
            own = fee - rounded(fee * (1 - decimal(sent["receiverFeeRatio"])))
            entries["transfer_out", sender, receiver] -= amount
            entries["transfer_in", receiver, sender] += amount
            entries["burned_fees", sender, None] += own
            entries["burned_fees", receiver, None] -= own
