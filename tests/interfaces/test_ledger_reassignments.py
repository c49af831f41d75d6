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

CREATED = {
    "contractId": "00ab",
    "templateId": "p:M:T",
    "createArgument": {"a": "1.0"},
    "contractKey": None,
    "nodeId": 0,
}
ASSIGNMENT = {
    "source": "da1::12", "target": "da2::12", "reassignmentId": "r-1", "submitter": "alice::12",
    "reassignmentCounter": 2, "createdEvent": CREATED,
}  # fmt: skip
UNASSIGNMENT = {"reassignmentId": "r-1", "contractId": "00ab", "source": "da1::12", "target": "da2::12"}


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


def test_the_events_of_a_reassignment_are_read_flat_and_wrapped():
    answer = {
        "reassignment": {
            "updateId": "u-1", "commandId": "c-1", "workflowId": "", "offset": 20, "recordTime": "2026-01-01T00:00:00Z",
            "synchronizerId": "da2::12", "paidTrafficCost": 0,
            "traceContext": {"traceparent": "00-1", "tracestate": None},
            "events": [{"JsAssignmentEvent": ASSIGNMENT}, {"JsUnassignedEvent": {"value": UNASSIGNMENT}}], "new": [1],
        }
    }  # fmt: skip

    with far(submit_and_wait_for_reassignment=reply(answer)) as there:
        read = there.ledger.submit_and_wait_for_reassignment([ASSIGN], **WHO)
    assignment, unassignment = read.item.events

    assert (read.item.update_id, read.item.offset, read.item.paid_traffic_cost) == ("u-1", 20, 0)
    assert read.item.trace_context.traceparent == "00-1"
    assert (assignment.kind, assignment.reassignment_counter) == ("JsAssignmentEvent", 2)
    assert (assignment.created_event.kind, assignment.created_event.create_argument) == ("CreatedEvent", {"a": "1.0"})
    assert (unassignment.kind, unassignment.contract_id) == ("JsUnassignedEvent", "00ab")
    assert b'"new"' in read.raw
