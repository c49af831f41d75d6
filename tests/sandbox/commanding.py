"""Requests to a sandbox's ledger interface as one of its users; the tests of its reads and commands call it."""

import itertools
from dataclasses import dataclass, field

from tests.sandbox.asking import Answer, call, party_of

TREE = "/v2/commands/submit-and-wait-for-transaction-tree"
REASSIGN = "/v2/commands/submit-and-wait-for-reassignment"
REASSIGN_ASYNC = "/v2/commands/async/submit-reassignment"
USERS = "/v2/users"
BY_ID = "/v2/updates/transaction-by-id"
IOU = "#iou-app:Iou:Iou"
RULES = "#splice-amulet:Splice.AmuletRules:AmuletRules"
COIN = "#splice-amulet:Splice.Amulet:Amulet"

#: The members of an error.
ERROR = {
    "code", "cause", "correlationId", "traceId", "context", "resources", "errorCategory", "grpcCodeValue", "retryInfo",
    "definiteAnswer",
}  # fmt: skip


def create(template, arguments):
    return {"CreateCommand": {"templateId": template, "createArguments": arguments}}


def exercise(template, contract_id, choice, argument=None):
    body = {"templateId": template, "contractId": contract_id, "choice": choice, "choiceArgument": argument or {}}
    return {"ExerciseCommand": body}


def unassign(contract_id, source, target):
    value = {"contractId": contract_id, "source": source, "target": target}
    return {"command": {"UnassignCommand": {"value": value}}}


def assign(reassignment_id, source, target):
    value = {"reassignmentId": reassignment_id, "source": source, "target": target}
    return {"command": {"AssignCommand": {"value": value}}}


@dataclass
class Desk:
    """Submits commands to one sandbox, each under a command id of its own unless one is given."""

    sandbox: object
    numbers: itertools.count = field(default_factory=itertools.count)

    def party(self, user):
        return party_of(self.sandbox, user)

    def post(self, path, body, *, user="alice") -> Answer:
        return call(self.sandbox, "ledger", path, body, user=user)

    def submit(self, *commands, user="alice", act_as=None, **members) -> Answer:
        body = {"commands": list(commands), "commandId": f"c-{next(self.numbers)}", "actAs": act_as}
        return self.post(TREE, {**body, "actAs": act_as or [self.party(user)], **members}, user=user)

    def reassign(self, *commands, user="alice", path=REASSIGN, events=None, **members) -> Answer:
        body = {"commands": list(commands), "commandId": f"c-{next(self.numbers)}", "submitter": self.party(user)}
        shown = {} if events is None else {"eventFormat": events}
        return self.post(path, {"reassignmentCommands": {**body, **members}, **shown}, user=user)

    def iou(self, *, amount="10.0", owner="alice", issuer="alice", **members) -> str:
        """The id of a new IOU."""
        payload = {"issuer": self.party(issuer), "owner": self.party(owner), "currency": "USD", "amount": amount}
        return created(self.submit(create(IOU, payload), user=issuer, **members))[0]

    def tap(self, **members) -> Answer:
        """What comes back when alice lets the tap make a coin."""
        world = self.sandbox.world
        argument = {"receiver": self.party("alice"), "amount": "7.0", "openRound": world.rounds[0].contract_id}
        rules = world.rules["Splice.AmuletRules:AmuletRules"].contract_id
        return self.submit(exercise(RULES, rules, "AmuletRules_DevNet_Tap", argument), **members)

    def counts(self):
        """What changes when anything does."""
        world = self.sandbox.world
        return len(world.ledger_updates), len(world.contracts.active), world.coins.units, len(world.later_changes)


def nodes(answer) -> list:
    """The (kind, event) pairs of a tree, in the order of their nodes."""
    assert answer.status == 200, answer.body
    events = answer.json["transactionTree"]["eventsById"]
    return [(kind, wrapped["value"]) for key in sorted(events, key=int) for kind, wrapped in events[key].items()]


def created(answer) -> list[str]:
    """The ids of the contracts that a tree creates."""
    return [event["contractId"] for kind, event in nodes(answer) if kind == "CreatedTreeEvent"]


def refusal(answer) -> tuple[int, str]:
    """Status and code of a ledger error."""
    return answer.status, answer.json["code"]


def iou(desk, **members):
    alice = desk.party("alice")
    return {"issuer": alice, "owner": alice, "currency": "USD", "amount": "10.0", **members}
