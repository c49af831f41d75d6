"""Our client's commands at a sandbox: what they do, and that a fault never makes one arrive twice."""

from contextlib import suppress

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.commands import AssignCommand, CreateCommand, ExerciseCommand, UnassignCommand
from ledgerframes.interfaces.event_formats import EventFormat, Filters
from ledgerframes.interfaces.users import CanActAs, User
from ledgerframes.sandbox.faults import KINDS, Faults

IOU = "#iou-app:Iou:Iou"
REASSIGN = "/v2/commands/submit-and-wait-for-reassignment"
ASYNC = "/v2/commands/async/submit-reassignment"
TREE = "/v2/commands/submit-and-wait-for-transaction-tree"
RUN = {"reset-after", "reset-in-body", "truncated", "short-body", "content-type"}


@pytest.fixture(scope="module")
def own():
    """A sandbox of the tests' own, since they change it, with a user who acts as its operator."""
    with lf.sandbox(seed=7, updates=200) as network:
        yield network


@pytest.fixture
def operator(own):
    return own.sandbox.world.accounts.get("validator_operator").primary_party


def payload(party):
    return {"issuer": party, "owner": party, "currency": "USD", "amount": "5"}


def made(own, party, command_id):
    tree = own.ledger.submit_and_wait_for_transaction_tree(
        [CreateCommand(template_id=IOU, create_arguments=payload(party))], command_id=command_id, act_as=[party]
    )
    return tree.item.events_by_id["0"].contract_id


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_a_contract_is_made_moved_and_used(own, operator):
    here, there = own.sandbox.world.synchronizers[:2]
    contract_id = made(own, operator, "make")
    seen = EventFormat(filters_by_party={operator: Filters()})
    left = own.ledger.submit_and_wait_for_reassignment(
        [UnassignCommand(contract_id=contract_id, source=here, target=there)],
        command_id="leave", submitter=operator, event_format=seen,
    )  # fmt: skip
    (gone,) = left.item.events
    came = own.ledger.submit_and_wait_for_reassignment(
        [AssignCommand(reassignment_id=gone.reassignment_id, source=here, target=there)],
        command_id="arrive", submitter=operator, event_format=seen,
    )  # fmt: skip
    (arrived,) = came.item.events
    split = ExerciseCommand(
        template_id=IOU, contract_id=contract_id, choice="Iou_Split", choice_argument={"splitAmount": "2"}
    )
    used = own.ledger.submit_and_wait_for_transaction_tree([split], command_id="use", act_as=[operator])

    assert (gone.kind, gone.reassignment_counter) == ("JsUnassignedEvent", 1)
    assert (arrived.created_event.contract_id, arrived.reassignment_counter) == (contract_id, 1)
    assert used.item.synchronizer_id == there
    assert [used.item.events_by_id[key].kind for key in "012"] == [
        "ExercisedTreeEvent", "CreatedTreeEvent", "CreatedTreeEvent",
    ]  # fmt: skip
    transactions, events = lf.load_ledger_history(own, [operator])
    assert used.item.update_id in set(transactions["update_id"])
    moved = events[events["kind"].isin(["JsUnassignedEvent", "JsAssignmentEvent"])]
    assert list(moved["contract_id"][-2:]) == [contract_id] * 2


def test_a_user_is_made_and_listed(own, operator):
    user = own.ledger.create_user(User(id="made", primary_party=operator), rights=[CanActAs(operator)])

    assert user.metadata.resource_version
    assert user in list(own.ledger.iter_users())


def test_a_user_that_exists_is_a_conflict(own):
    with pytest.raises(lf.errors.ConflictError, match="already"):
        own.ledger.create_user(User(id="alice"))


def reassign(own, operator, command_id):
    here, there = own.sandbox.world.synchronizers[:2]
    command = UnassignCommand(contract_id="00ab", source=here, target=there)
    own.ledger.submit_and_wait_for_reassignment([command], command_id=command_id, submitter=operator)


def reassign_without_waiting(own, operator, command_id):
    here, there = own.sandbox.world.synchronizers[:2]
    command = UnassignCommand(contract_id="00ab", source=here, target=there)
    own.ledger.submit_reassignment([command], command_id=command_id, submitter=operator)


def make_user(own, _operator, command_id):
    own.ledger.create_user(User(id=command_id))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("send", "path"),
    [(made, TREE), (reassign, REASSIGN), (reassign_without_waiting, ASYNC), (make_user, "/v2/users")],
    ids=["tree", "reassignment", "reassignment without waiting", "user"],
)
def test_a_command_arrives_once_whatever_goes_wrong(own, operator, kind, send, path):
    name, world = f"POST /api/ledger{path}", own.sandbox.world
    before, executed = own.sandbox.requests[name], len(world.later_changes)
    own.sandbox.faults = Faults({kind: 1.0})

    with suppress(lf.LedgerframesError):
        send(own, operator, f"{kind}-{send.__name__}")
    own.sandbox.faults = None

    assert own.sandbox.requests[name] == before + 1
    assert len(world.later_changes) - executed == (1 if send is made and kind in RUN else 0)
