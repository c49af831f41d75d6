"""Whatever order commands come in: counters, places and coin agree with what scan shows, replayed by other code."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ledgerframes.sandbox.server import start
from tests.sandbox.brute_force import replay
from tests.sandbox.commanding import (
    IOU,
    RULES,
    Desk,
    assign,
    create,
    created,
    exercise,
    nodes,
    refusal,
    unassign,
)

PLACES = st.integers(0, 2)
ALLOWED = {200, 400, 404, 409}


class Commands(RuleBasedStateMachine):
    """Alice's commands in any order, sensible or not, with the ledger's own life in between."""

    @initialize(seed=st.integers(0, 3))
    def begin(self, seed):
        self.sandbox = start(seed=seed, updates=120)
        self.desk, self.ids, self.moves = Desk(self.sandbox), [], []
        self.places = self.sandbox.world.synchronizers
        self.minted = Decimal(0)
        self.items = []

    def teardown(self):
        if hasattr(self, "sandbox"):
            self.compare()
            self.sandbox.stop()

    def pick(self, pool, at):
        return pool[at % len(pool)] if pool else "00ab"

    @rule(amount=st.sampled_from(["0", "1", "2.5", "-3", "x"]), place=PLACES)
    def issue(self, amount, place):
        alice = self.desk.party("alice")
        payload = {"issuer": alice, "owner": alice, "currency": "USD", "amount": amount}
        self.take(self.desk.submit(create(IOU, payload), synchronizerId=self.places[place]))

    @rule(at=st.integers(0, 50), choice=st.sampled_from(["Iou_Split", "Iou_Settle", "Archive", "Iou_Dance"]))
    def use(self, at, choice):
        argument = {"splitAmount": "1"} if choice == "Iou_Split" else {}
        self.take(self.desk.submit(exercise(IOU, self.pick(self.ids, at), choice, argument)))

    @rule(first=st.integers(0, 50), second=st.integers(0, 50))
    def use_two_at_once(self, first, second):
        both = [exercise(IOU, self.pick(self.ids, at), "Iou_Settle") for at in (first, second)]
        self.take(self.desk.submit(*both))

    @rule(at=st.integers(0, 50), begin=PLACES, end=PLACES)
    def send_off(self, at, begin, end):
        command = unassign(self.pick(self.ids, at), self.places[begin], self.places[end])
        answer = self.desk.reassign(command, events={"filtersByParty": {self.desk.party("alice"): {}}})
        if answer.status == 200:
            ((_, event),) = answer.json["reassignment"]["events"][0].items()
            self.moves.append((event["value"]["reassignmentId"], begin, end))
        assert answer.status in ALLOWED

    @rule(at=st.integers(0, 50), straight=st.booleans())
    def bring_in(self, at, straight):
        reassignment_id, source, target = self.pick(self.moves, at) if self.moves else ("00ab", 0, 1)
        way = (source, target) if straight else (target, source)
        assert self.desk.reassign(assign(reassignment_id, *(self.places[one] for one in way))).status in ALLOWED

    @rule(amount=st.sampled_from(["0", "10", "3.0000000001"]))
    def tap(self, amount):
        argument = {"receiver": self.desk.party("alice"), "amount": amount, "openRound": self.desk.round}
        rules = self.desk.rule("Splice.AmuletRules:AmuletRules")
        answer = self.desk.submit(exercise(RULES, rules, "AmuletRules_DevNet_Tap", argument))
        self.take(answer)
        self.minted += Decimal(amount) if answer.status == 200 else 0

    @rule(updates=st.integers(1, 8))
    def live_on(self, updates):
        before = self.sandbox.world.coins.units
        self.sandbox.advance(updates=updates)
        self.minted += Decimal(self.sandbox.world.coins.units - before) / 10**10

    @rule()
    def send_the_same_again(self):
        alice = self.desk.party("alice")
        payload = {"issuer": alice, "owner": alice, "currency": "EUR", "amount": "1"}
        answers = [self.desk.submit(create(IOU, payload), commandId="the-same") for _ in range(2)]
        self.take(*(one for one in answers if one.status == 200))
        assert refusal(answers[1]) == (409, "DUPLICATE_COMMAND")

    def take(self, *answers):
        for answer in answers:
            assert answer.status in ALLOWED, answer.body
            if answer.status == 200:
                assert nodes(answer)
                self.ids += created(answer)

    @invariant()
    def coin_is_worth_what_was_there_and_was_minted(self):
        if hasattr(self, "sandbox"):
            first = self.__dict__.setdefault("first", self.sandbox.world.coins.units)
            assert Decimal(self.sandbox.world.coins.units - first) / 10**10 == self.minted

    def compare(self):
        book = replay(self.sandbox.world.items(private=True))
        active = self.sandbox.world.contracts.active.values()
        assert book.contracts == {one.contract_id: (one.synchronizer_id, one.counter) for one in active}
        assert book.coin == Decimal(self.sandbox.world.coins.units) / 10**10


TestCommands = Commands.TestCase
TestCommands.settings = settings(
    max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
