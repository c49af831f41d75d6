"""What the calls that submit commands, reassignments and packages send and read; a fault makes none arrive twice."""

import json
from contextlib import suppress
from decimal import Decimal

import pytest
from served_answers import NOWHERE, far, reply

import ledgerframes as lf
from ledgerframes.errors import DecodeError, DeprecatedEndpointWarning, InputError, StatusError
from ledgerframes.interfaces.commands import CreateCommand, UnassignCommand
from ledgerframes.interfaces.users import User
from ledgerframes.sandbox.faults import KINDS, Faults
from tests.asking import asking_one
from tests.replay import read_capture, replay

WHO = {"command_id": "c-1", "act_as": ["alice::12"]}
CREATE = CreateCommand(template_id="#iou:Iou:Iou", create_arguments={"amount": Decimal("1.50"), "observers": []})
UNASSIGN = UnassignCommand(contract_id="00ab", source="da1::12", target="da2::12")
DAR = bytes(range(256))
OLD_UPLOAD = pytest.mark.filterwarnings("ignore::ledgerframes.errors.DeprecatedEndpointWarning")
MOVER = {"command_id": "c-1", "submitter": "alice::12"}


def test_a_deprecation_made_an_error_stops_a_command_before_it_is_sent():
    with far() as there, pytest.raises(DeprecatedEndpointWarning):
        there.net.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO)
    assert there.routes == []


@pytest.mark.usefixtures("captures")
def test_the_captured_tree_is_read():
    with (
        replay("ledger-transaction-tree") as server,
        asking_one(server.urls["ledger_url"]) as net,
        pytest.warns(DeprecatedEndpointWarning, match="submit-and-wait-for-transaction replaces it"),
    ):
        read = net.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO)
    event = read.item.events_by_id["0"]

    assert (read.item.command_id, read.item.offset, read.item.root_node_ids) == ("somecommandid21", 18, [0])
    assert (event.kind, event.create_argument["amount"]) == ("CreatedTreeEvent", "999.9900000000")
    assert json.loads(read.raw) == read_capture("ledger-transaction-tree").body["transactionTree"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param({"other": {}}, "has no 'transactionTree'", id="no tree"),
        pytest.param({"transactionTree": {"updateId": "u", "eventsById": {"0": {}}}}, "one key", id="kindless event"),
        pytest.param(
            {"transactionTree": {"updateId": "u", "eventsById": {"0": {"CreatedEvent": {"nodeId": "x"}}}}}, "nodeId",
            id="text for a node id",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_the_contract_says_where_and_that_it_was_carried_out(body, said):
    with (
        far(submit_and_wait_for_transaction_tree=reply(body)) as there,
        pytest.warns(DeprecatedEndpointWarning),
        pytest.raises(DecodeError, match=f"(?s){said}.*most likely carried out"),
    ):
        there.net.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO)


def test_submitting_without_waiting_returns_nothing_and_equal_source_and_target_are_left_to_the_server():
    with far(submit_reassignment=reply({})) as there:
        assert there.net.ledger.submit_reassignment([UNASSIGN], **MOVER) is None
    assert there.routes == ["POST /v2/commands/async/submit-reassignment"]
    assert there.asked[0].headers["authorization"] == "Bearer t0ken-of-the-test"
    command = UnassignCommand(contract_id="00ab", source="da1::12", target="da1::12")
    refused = {"code": "INVALID_ARGUMENT", "cause": "source and target domains are the same", "errorCategory": 8}

    with (
        far(submit_reassignment=reply(refused | {"correlationId": None}, 400)) as there,
        pytest.raises(StatusError, match="source and target domains are the same") as error,
    ):
        there.net.ledger.submit_reassignment([command], **MOVER)
    assert error.value.code == "INVALID_ARGUMENT"


@OLD_UPLOAD
@pytest.mark.parametrize("form", [bytes, memoryview])
def test_the_bytes_go_out_as_they_are(form):
    with far(packages=reply({}), validate=reply(b"")) as there:
        assert there.net.ledger.upload_package(form(DAR)) is None
        assert there.net.ledger.validate_dar(form(DAR)) is None
    assert there.routes == ["POST /v2/packages", "POST /v2/dars/validate"]
    assert {asked.body for asked in there.asked} == {DAR}
    assert {asked.headers["content-type"] for asked in there.asked} == {"application/octet-stream"}


@OLD_UPLOAD
@pytest.mark.parametrize("call", ["upload_package", "validate_dar"])
def test_a_file_is_read_and_what_is_no_dar_is_refused(call, tmp_path):
    (tmp_path / "app.dar").write_bytes(DAR)
    (tmp_path / "empty.dar").touch()
    ledger = lf.connect(ledger_url=NOWHERE).ledger
    refused = {
        r"dar=b'' is empty": b"",
        r"dar='app.dar'; give the bytes, or the file as pathlib.Path": "app.dar",
        r"empty\.dar'\) is empty": tmp_path / "empty.dar",
        r"none\.dar' cannot be read: No such file": tmp_path / "none.dar",
    }

    assert getattr(ledger.preview, call)(tmp_path / "app.dar").body == DAR
    for said, dar in refused.items():
        with pytest.raises(InputError, match=said):
            getattr(ledger, call)(dar)


@OLD_UPLOAD
def test_an_upload_is_sent_once_and_a_validation_again():
    busy = reply(b"busy", 503, "text/plain")
    with far(packages=busy, validate=[busy, reply(b"")]) as there:
        with pytest.raises(StatusError, match="busy"):
            there.net.ledger.upload_package(DAR)
        there.net.ledger.validate_dar(DAR)
    assert there.routes == ["POST /v2/packages"] + ["POST /v2/dars/validate"] * 2


#: After these a command has been carried out.
RUN = {"reset-after", "reset-in-body", "truncated", "short-body", "content-type"}


def create(ledger, who, name):
    made = {"issuer": who, "owner": who, "currency": "USD", "amount": "5"}
    command = CreateCommand(template_id="#iou-app:Iou:Iou", create_arguments=made)
    ledger.submit_and_wait_for_transaction_tree([command], command_id=name, act_as=[who])


def moving(call):
    return lambda ledger, who, name: getattr(ledger, call)([UNASSIGN], command_id=name, submitter=who)


#: What sends a command, by its path.
COMMANDS = {
    "/v2/commands/submit-and-wait-for-transaction-tree": create,
    "/v2/commands/submit-and-wait-for-reassignment": moving("submit_and_wait_for_reassignment"),
    "/v2/commands/async/submit-reassignment": moving("submit_reassignment"),
    "/v2/users": lambda ledger, _, name: ledger.create_user(User(id=name)),
}


@pytest.fixture(scope="module")
def own():
    """A sandbox of the tests' own, since they change it, with a user who acts as its operator."""
    with lf.sandbox(seed=7, updates=200) as network:
        yield network


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
