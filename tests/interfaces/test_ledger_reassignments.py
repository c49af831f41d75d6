"""What the two reassignment calls send, what they refuse, and what they read."""

import pytest
from served_answers import body_of, far, nowhere, reply

from ledgerframes.errors import StatusError
from ledgerframes.interfaces.commands import AssignCommand, UnassignCommand
from ledgerframes.interfaces.ledger import Ledger

ASSIGN = AssignCommand(reassignment_id="r-1", source="da1::12", target="da2::12")
UNASSIGN = UnassignCommand(contract_id="00ab", source="da1::12", target="da2::12")
WHO = {"command_id": "c-1", "submitter": "alice::12"}
CALLS = ["submit_reassignment", "submit_and_wait_for_reassignment"]


def test_submitting_without_waiting_returns_nothing_and_equal_source_and_target_are_left_to_the_server():
    with far(submit_reassignment=reply({})) as there:
        assert there.ledger.submit_reassignment([UNASSIGN], **WHO) is None
    assert there.routes == ["POST /v2/commands/async/submit-reassignment"]
    assert there.asked[0].headers["authorization"] == "Bearer token-of-the-tests"
    command = UnassignCommand(contract_id="00ab", source="da1::12", target="da1::12")
    refused = {"code": "INVALID_ARGUMENT", "cause": "source and target domains are the same", "errorCategory": 8}

    with (
        far(submit_reassignment=reply(refused | {"correlationId": None}, 400)) as there,
        pytest.raises(StatusError, match="source and target domains are the same") as error,
    ):
        there.ledger.submit_reassignment([command], **WHO)
    assert error.value.code == "INVALID_ARGUMENT"


def test_ledger_strings_of_every_allowed_kind_pass():
    for command_id in ("A9#:-_/ z", "x" * 255):
        sent = body_of(Ledger(nowhere()), "submit_reassignment", [ASSIGN], command_id=command_id, submitter="a:-_ b")
        assert sent["reassignmentCommands"]["commandId"] == command_id
