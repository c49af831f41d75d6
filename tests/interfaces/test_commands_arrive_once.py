"""Our client's commands at a sandbox: a fault never makes one arrive twice."""

from contextlib import suppress

import pytest

import ledgerframes as lf
from ledgerframes.commands import CreateCommand, UnassignCommand, User
from ledgerframes.sandbox.faults import KINDS, Faults

#: After these a command has been carried out.
RUN = {"reset-after", "reset-in-body", "truncated", "short-body", "content-type"}
MOVE = [UnassignCommand(contract_id="00ab", source="a::12", target="b::12")]


def create(ledger, who, name):
    made = {"issuer": who, "owner": who, "currency": "USD", "amount": "5"}
    command = CreateCommand(template_id="#iou-app:Iou:Iou", create_arguments=made)
    ledger.submit_and_wait_for_transaction_tree([command], command_id=name, act_as=[who])


#: What sends a command, by its path.
COMMANDS = {
    "/v2/commands/submit-and-wait-for-transaction-tree": create,
    "/v2/commands/submit-and-wait-for-reassignment": lambda ledger, who, name: ledger.submit_and_wait_for_reassignment(
        MOVE, command_id=name, submitter=who
    ),
    "/v2/commands/async/submit-reassignment": lambda ledger, who, name: ledger.submit_reassignment(
        MOVE, command_id=name, submitter=who
    ),
    "/v2/users": lambda ledger, _, name: ledger.create_user(User(id=name)),
}


@pytest.fixture(scope="module")
def own():
    """A sandbox of the tests' own, since they change it, with a user who acts as its operator."""
    with lf.sandbox(seed=7, updates=200) as network:
        yield network


def test_a_user_that_exists_is_a_conflict(own):
    with pytest.raises(lf.errors.ConflictError, match="already"):
        own.ledger.create_user(User(id="alice"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_arrives_once_whatever_goes_wrong(own, kind, path):
    route, world = f"POST /api/ledger{path}", own.sandbox.world
    operator = world.accounts["validator_operator"].primary_party
    before, executed = own.sandbox.requests[route], len(world.later_changes)
    own.sandbox.faults = Faults({kind: 1.0})

    with suppress(lf.LedgerframesError):
        COMMANDS[path](own.ledger, operator, f"{kind}-{path.rpartition('/')[2]}")
    own.sandbox.faults = None

    assert own.sandbox.requests[route] == before + 1
    assert len(world.later_changes) - executed == (COMMANDS[path] is create and kind in RUN)
