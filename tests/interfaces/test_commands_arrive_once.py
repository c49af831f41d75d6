"""Our client's commands at a sandbox: a fault never makes one arrive twice."""

from contextlib import suppress

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.commands import CreateCommand, UnassignCommand
from ledgerframes.interfaces.users import User
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


def made(own, party, command_id):
    payload = {"issuer": party, "owner": party, "currency": "USD", "amount": "5"}
    own.ledger.submit_and_wait_for_transaction_tree(
        [CreateCommand(template_id=IOU, create_arguments=payload)], command_id=command_id, act_as=[party]
    )


def test_a_user_that_exists_is_a_conflict(own):
    with pytest.raises(lf.errors.ConflictError, match="already"):
        own.ledger.create_user(User(id="alice"))


def leave(own):
    here, there = own.sandbox.world.synchronizers[:2]
    return UnassignCommand(contract_id="00ab", source=here, target=there)


def reassign(own, operator, command_id):
    own.ledger.submit_and_wait_for_reassignment([leave(own)], command_id=command_id, submitter=operator)


def reassign_without_waiting(own, operator, command_id):
    own.ledger.submit_reassignment([leave(own)], command_id=command_id, submitter=operator)


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
