"""What the two reassignment calls send, what they refuse, and what they read."""

import pytest
from served_answers import body_of, far, nowhere, reply

from ledgerframes.errors import InputError, StatusError
from ledgerframes.interfaces.commands import AssignCommand, UnassignCommand
from ledgerframes.interfaces.event_formats import EventFormat, Filters, WildcardFilter
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


@pytest.mark.parametrize("call", CALLS)
def test_a_command_goes_out_under_its_name(call):
    variant = {"UnassignCommand": {"value": {"contractId": "00ab", "source": "da1::12", "target": "da2::12"}}}

    assert body_of(Ledger(nowhere()), call, [UNASSIGN], **WHO) == {
        "reassignmentCommands": {"commands": [{"command": variant}], "commandId": "c-1", "submitter": "alice::12"}
    }


def test_every_optional_member_goes_out_under_the_contracts_name():
    event_format = EventFormat(filters_by_party={"alice::12": Filters([WildcardFilter()])})
    sent = body_of(
        Ledger(nowhere()), "submit_and_wait_for_reassignment", [ASSIGN, UNASSIGN], **WHO,
        user_id="u", workflow_id="w", submission_id="s", event_format=event_format,
    )  # fmt: skip

    assert len(sent["reassignmentCommands"].pop("commands")) == 2
    assert sent == {
        "reassignmentCommands": {
            "commandId": "c-1", "submitter": "alice::12", "userId": "u", "workflowId": "w", "submissionId": "s",
        },
        "eventFormat": {
            "filtersByParty": {
                "alice::12": {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]}
            },
            "verbose": False,
        },
    }  # fmt: skip


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


@pytest.mark.parametrize(
    ("commands", "options", "said"),
    [
        pytest.param([], {}, r"commands=\[\]; give at least 1", id="no commands"),
        pytest.param([{"AssignCommand": {}}], {}, r"commands\[0\]=\{'AssignCommand'.*give an AssignCommand", id="dict"),
        pytest.param(
            [AssignCommand(reassignment_id="", source="a", target="b")], {},
            r"commands\[0\]\.reassignment_id=''; give text that is not empty", id="empty reassignment id",
        ),
        pytest.param(
            [UnassignCommand(contract_id="a", source=7, target="b")], {},
            r"commands\[0\]\.source=7; give text", id="a number for a synchronizer",
        ),
        pytest.param([ASSIGN], {"command_id": "a" * 256}, "command_id='aaa.*give 1 to 255", id="long command id"),
        pytest.param([ASSIGN], {"command_id": "c\n"}, r"command_id='c\\n'", id="line break in command id"),
        pytest.param([ASSIGN], {"submitter": "a#b"}, "submitter='a#b'; give a party id", id="submitter with #"),
        pytest.param([ASSIGN], {"user_id": "a b"}, "user_id='a b'; give a user id", id="space in user id"),
        pytest.param([ASSIGN], {"workflow_id": "é"}, "workflow_id='é'", id="workflow id"),
        pytest.param([ASSIGN], {"submission_id": "é"}, "submission_id='é'", id="submission id"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", CALLS)
def test_a_broken_rule_is_named_and_nothing_sent(call, commands, options, said):
    sender = nowhere()
    with pytest.raises(InputError, match=said):
        getattr(Ledger(sender), call)(commands, **WHO | options)
    assert sender.transport.stats.requests == 0
    with pytest.raises(InputError, match=r"user_id=None.*ledger_token"):
        getattr(Ledger(nowhere(), has_token=False), call)([ASSIGN], **WHO)


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
