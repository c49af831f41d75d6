"""What submit_and_wait_for_transaction_tree sends, refuses and reads."""

import json
from datetime import datetime
from decimal import Decimal

import numpy as np
import pytest
from served_answers import body_of, connected, far, nowhere, reply

from ledgerframes.errors import DecodeError, InputError
from ledgerframes.interfaces.commands import (
    CreateCommand,
    DeduplicationDuration,
    DeduplicationOffset,
    DisclosedContract,
    Duration,
    PrefetchContractKey,
)
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.transport import DeprecatedEndpointWarning
from tests.replay import read_capture, replay

CALL = "submit_and_wait_for_transaction_tree"
WHO = {"command_id": "c-1", "act_as": ["alice::12"]}
CREATE = CreateCommand(template_id="#iou:Iou:Iou", create_arguments={"amount": Decimal("1.50"), "observers": []})
DISCLOSED = DisclosedContract(
    template_id="p:M:T",
    contract_id="00ab",
    created_event_blob="blob",
    synchronizer_id="da1::12",
    debug_payload={"a": 1},
)
NESTED: list = []
NESTED.append(NESTED)


def nested(levels):
    """A value of so many levels."""
    value = ""
    for _ in range(levels):
        value = [value]
    return value


def test_a_command_goes_out_under_its_name():
    arguments = {"amount": "1.50", "observers": []}
    written = {"CreateCommand": {"templateId": "#iou:Iou:Iou", "createArguments": arguments}}
    assert body_of(Ledger(nowhere()), CALL, [CREATE], **WHO) == {
        "commands": [written], "commandId": "c-1", "actAs": ["alice::12"],
    }  # fmt: skip


def test_every_optional_member_goes_out_under_the_contracts_name():
    sent = body_of(
        Ledger(nowhere()), CALL, [CREATE], **WHO,
        deduplication_period=DeduplicationDuration(30),
        user_id="u", read_as=["bob::12"], workflow_id="w", submission_id="s", synchronizer_id="da1::12",
        min_ledger_time_abs=datetime(2026, 1, 2), min_ledger_time_rel=Duration(1, 500),  # noqa: DTZ001 - read as UTC
        disclosed_contracts=[DISCLOSED], package_id_selection_preference=["ab"], taps_max_passes=np.int64(3),
        prefetch_contract_keys=[
            PrefetchContractKey(template_id="p:M:T", contract_key="k"),
            PrefetchContractKey(template_id="p:M:T", contract_key={"k": "1"}, limit=2),
        ],
    )  # fmt: skip

    del sent["commands"]
    assert sent == {
        "deduplicationPeriod": {"DeduplicationDuration": {"value": {"seconds": 30, "nanos": 0}}},
        "commandId": "c-1", "actAs": ["alice::12"], "userId": "u", "readAs": ["bob::12"], "workflowId": "w",
        "submissionId": "s", "synchronizerId": "da1::12", "minLedgerTimeAbs": "2026-01-02T00:00:00.000000Z",
        "minLedgerTimeRel": {"seconds": 1, "nanos": 500}, "packageIdSelectionPreference": ["ab"], "tapsMaxPasses": 3,
        "disclosedContracts": [
            {"templateId": "p:M:T", "contractId": "00ab", "createdEventBlob": "blob", "synchronizerId": "da1::12"}
        ],
        "prefetchContractKeys": [
            {"templateId": "p:M:T", "contractKey": "k"},
            {"templateId": "p:M:T", "contractKey": {"k": "1"}, "limit": 2},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "options", "said"),
    [
        pytest.param([], {}, r"commands=\[\]; give at least 1", id="no commands"),
        pytest.param("commands", {}, "commands='commands'; give a list", id="text for commands"),
        pytest.param([{"CreateCommand": {}}], {}, r"commands\[0\]=.*give a CreateCommand", id="a dict"),
        pytest.param(
            [CREATE, CreateCommand(template_id="", create_arguments={})], {},
            r"commands\[1\]\.template_id=''; give text", id="empty template id",
        ),
        pytest.param(
            [CreateCommand(template_id="t", create_arguments={"a": [1.0, float("nan")]})], {},
            r"commands\[0\]\.create_arguments\['a'\]\[1\]=nan; JSON has no such number", id="NaN in arguments",
        ),
        pytest.param(
            [CreateCommand(template_id="t", create_arguments=NESTED)], {}, "nested too deeply", id="endless nesting"
        ),
        pytest.param(
            [CreateCommand(template_id="t", create_arguments={"a": nested(400)})], {},
            r"\.create_arguments is nested too deeply", id="401 levels",
        ),
        pytest.param([CREATE], {"command_id": ""}, "command_id=''; give 1 to 255", id="empty command id"),
        pytest.param([CREATE], {"act_as": []}, r"act_as=\[\]; give at least 1", id="nobody to act as"),
        pytest.param([CREATE], {"act_as": ["a", "b#"]}, r"act_as\[1\]='b#'; give a party id", id="party with #"),
        pytest.param([CREATE], {"min_ledger_time_abs": "soon"}, "min_ledger_time_abs='soon' is not a time", id="time"),
        pytest.param(
            [CREATE], {"min_ledger_time_rel": Duration(0, 10**9)}, r"min_ledger_time_rel\.nanos=1000000000; give",
            id="nanos of a second",
        ),
        pytest.param([CREATE], {"min_ledger_time_rel": 5}, "min_ledger_time_rel=5; give a Duration", id="bare seconds"),
        pytest.param(
            [CREATE], {"deduplication_period": {"Empty": {}}}, "deduplication_period=.*give a Dedup", id="dict"
        ),
        pytest.param(
            [CREATE], {"disclosed_contracts": [{"templateId": "t"}]}, r"disclosed_contracts\[0\]=.*DisclosedContract",
            id="disclosed contract as dict",
        ),
        pytest.param(
            [CREATE],
            {
                "disclosed_contracts": [
                    DisclosedContract(template_id="t", contract_id="c", created_event_blob="", synchronizer_id="s")
                ]
            },
            r"disclosed_contracts\[0\]\.created_event_blob=''", id="disclosed contract without blob",
        ),
        pytest.param(
            [CREATE], {"deduplication_period": DeduplicationOffset(1.5)}, r"deduplication_period\.offset=1\.5",
            id="half an offset",
        ),
        pytest.param([CREATE], {"taps_max_passes": -1}, "taps_max_passes=-1; give a whole number from 0", id="passes"),
        pytest.param(
            [CREATE], {"package_id_selection_preference": [""]}, r"package_id_selection_preference\[0\]=''",
            id="empty package id",
        ),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named_and_nothing_sent(commands, options, said):
    sender = nowhere()
    with pytest.raises(InputError, match=said):
        Ledger(sender).submit_and_wait_for_transaction_tree(commands, **WHO | options)
    assert sender.transport.stats.requests == 0


def test_a_value_of_400_levels_goes_out_and_the_user_may_be_left_out_with_a_token_alone():
    command = CreateCommand(template_id="t", create_arguments=nested(400))
    sent = body_of(Ledger(nowhere()), CALL, [command], **WHO)
    assert sent["commands"][0]["CreateCommand"]["createArguments"] == nested(400)
    with pytest.raises(InputError, match=r"user_id=None.*ledger_token"):
        Ledger(nowhere(), has_token=False).submit_and_wait_for_transaction_tree([command], **WHO)


def test_a_deprecation_made_an_error_stops_a_command_before_it_is_sent():
    with far() as there, pytest.raises(DeprecatedEndpointWarning):
        there.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO)
    assert there.routes == []


@pytest.mark.usefixtures("captures")
def test_the_captured_tree_is_read():
    with (
        replay("ledger-transaction-tree") as server,
        connected(server.ledger_url) as sender,
        pytest.warns(DeprecatedEndpointWarning, match="submit-and-wait-for-transaction replaces it"),
    ):
        read = Ledger(sender).submit_and_wait_for_transaction_tree([CREATE], **WHO)
    event = read.item.events_by_id["0"]

    assert (read.item.command_id, read.item.workflow_id, read.item.offset) == ("somecommandid21", "", 18)
    assert read.item.root_node_ids == [0]
    assert read.item.trace_context.tracestate is None
    assert (event.kind, event.node_id, event.package_name) == ("CreatedTreeEvent", 0, "model-tests")
    assert event.create_argument["amount"] == "999.9900000000"
    assert json.loads(read.raw) == read_capture("ledger-transaction-tree").body["transactionTree"]


def test_tree_nodes_are_read_flat_and_wrapped_and_unknown_kinds_kept():
    created = {"nodeId": 0, "contractId": "00ab", "signatories": None}
    exercised = {"nodeId": 1, "choice": "Go", "consuming": True, "lastDescendantNodeId": 2, "exerciseResult": "text"}
    events = {
        "0": {"CreatedTreeEvent": created},
        "1": {"ExercisedTreeEvent": {"value": exercised}},
        "2": {"NewEvent": {"nodeId": "two"}},
        "3": {"Empty": {}},
    }

    with (
        far(
            submit_and_wait_for_transaction_tree=reply({"transactionTree": {"updateId": "u", "eventsById": events}})
        ) as t,
        pytest.warns(DeprecatedEndpointWarning),
    ):
        read = t.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO).item.events_by_id

    assert (read["0"].kind, read["0"].contract_id, read["0"].signatories) == ("CreatedTreeEvent", "00ab", None)
    assert (read["1"].choice, read["1"].last_descendant_node_id, read["1"].exercise_result) == ("Go", 2, "text")
    assert (read["2"].kind, read["2"].other) == ("NewEvent", {"nodeId": "two"})
    assert (read["3"].kind, read["3"].other) == ("Empty", {})


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
        there.ledger.submit_and_wait_for_transaction_tree([CREATE], **WHO)
