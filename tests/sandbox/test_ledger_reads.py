"""The ledger interface's look-ups on a real loopback port: transactions as their parties see them."""

from __future__ import annotations

import pytest

from tests.rigs.servers import started
from tests.sandbox.asking import party_of
from tests.sandbox.economy_books import preorder
from tests.sandbox.ledger_calls import BY_ID, ERROR, call

UPDATE = "/v2/updates/update-by-id"
FRAME = {
    "updateId", "commandId", "workflowId", "effectiveAt", "events", "offset", "synchronizerId", "traceContext",
    "recordTime", "externalTransactionHash", "transactionHash", "paidTrafficCost",
}  # fmt: skip
ARCHIVED = {
    "offset", "nodeId", "contractId", "templateId", "packageName", "witnessParties", "implementedInterfaces",
}  # fmt: skip
CREATED = {
    "offset", "nodeId", "contractId", "templateId", "contractKey", "contractKeyHash", "createArgument",
    "createdEventBlob", "interfaceViews", "witnessParties", "signatories", "observers", "createdAt", "packageName",
    "representativePackageId", "acsDelta",
}  # fmt: skip
EXERCISED = ARCHIVED | {
    "interfaceId", "choice", "choiceArgument", "actingParties", "consuming", "lastDescendantNodeId", "exerciseResult",
    "acsDelta",
}  # fmt: skip
DELTA, EFFECTS = "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"


@pytest.fixture(scope="module")
def newer(sandbox):
    with sandbox.replica(release="0.9") as running:
        yield running


@pytest.fixture(scope="module")
def stakeholders(net_books):
    """The parties of every contract, by its id."""
    return {one: {*life.event["signatories"], *life.event["observers"]} for one, life in net_books.lives.items()}


def wanted(*parties, shape=DELTA, filters=(), anyone=False):
    """A transaction format for these parties."""
    cumulative = {"cumulative": [{"identifierFilter": one} for one in filters]}
    formats = {"filtersByParty": dict.fromkeys(parties, cumulative)}
    if anyone:
        formats["filtersForAnyParty"] = cumulative
    return {"eventFormat": formats, "transactionShape": shape}


def events(sandbox, item, chosen, **options):
    """The (kind, event) pairs that a transaction shows."""
    body = {"updateId": item["update_id"], "transactionFormat": chosen}
    found = call(sandbox, BY_ID, body, **options).json["transaction"]["events"]
    assert all(len(one) == 1 for one in found)
    return [next(iter(one.items())) for one in found]


def first(items, test):
    return next(item for item in items if test(item))


def big(item):
    """Many events, some of whose contracts come and go."""
    nodes = list(item.get("events_by_id", {}).values())
    created = {one["contract_id"] for one in nodes if one["event_type"] == "created_event"}
    return len(nodes) > 10 and any(one.get("consuming") and one["contract_id"] in created for one in nodes)


def test_a_transaction_has_its_frame_and_an_offset_that_rises(sandbox, items):
    chosen = [item for item in items if "events_by_id" in item][:40]
    found = [
        call(sandbox, BY_ID, {"updateId": item["update_id"], "transactionFormat": wanted(anyone=True)}).json[
            "transaction"
        ]
        for item in chosen
    ]

    for item, one in zip(chosen, found, strict=True):
        assert one.keys() == FRAME
        assert one["updateId"] == item["update_id"]
        assert (one["recordTime"], one["effectiveAt"]) == (item["record_time"], item["effective_at"])
        assert (one["workflowId"], one["synchronizerId"]) == (item["workflow_id"], item["synchronizer_id"])
        assert one["externalTransactionHash"] == item.get("external_transaction_hash")
        assert {next(iter(event.values()))["offset"] for event in one["events"]} <= {one["offset"]}
        assert one["traceContext"].keys() == {"traceparent", "tracestate"}
    offsets = [one["offset"] for one in found]
    assert len(set(offsets)) == 40
    assert all(type(one) is int for one in offsets)


def test_the_acs_delta_holds_what_comes_and_what_goes_but_nothing_in_between(sandbox, items, stakeholders):
    item = first(items, big)
    nodes = list(preorder(item))
    created = [one["contract_id"] for one in nodes if one["event_type"] == "created_event"]
    consumed = [one["contract_id"] for one in nodes if one.get("consuming")]
    expected = [
        ("CreatedEvent" if one["event_type"] == "created_event" else "ArchivedEvent", number, one["contract_id"])
        for number, one in enumerate(nodes)
        if (one["event_type"] == "created_event" and one["contract_id"] not in consumed)
        or (one.get("consuming") and one["contract_id"] not in created)
    ]

    found = events(sandbox, item, wanted(anyone=True))

    assert [(kind, event["nodeId"], event["contractId"]) for kind, event in found] == expected
    for kind, event in found:
        assert event.keys() == (CREATED if kind == "CreatedEvent" else ARCHIVED)
        assert set(event["witnessParties"]) == stakeholders[event["contractId"]]
    assert events(sandbox, item, wanted(anyone=True, shape="TRANSACTION_SHAPE_UNSPECIFIED")) == found
    assert set(created) & set(consumed)


def test_ledger_effects_hold_every_creation_and_exercise_in_preorder(sandbox, items):
    item = first(items, big)
    nodes = list(preorder(item))
    ids = {event["event_id"]: number for number, event in enumerate(nodes)}

    def last(event):
        below = [last(item["events_by_id"][one]) for one in event.get("child_event_ids", [])]
        return max([ids[event["event_id"]], *below])

    found = events(sandbox, item, wanted(anyone=True, shape=EFFECTS))

    assert [event["nodeId"] for _, event in found] == list(range(len(nodes)))
    for (kind, event), node in zip(found, nodes, strict=True):
        assert event["contractId"] == node["contract_id"]
        if kind == "CreatedEvent":
            assert event.keys() == CREATED
            assert event["createArgument"] == node["create_arguments"]
            assert (event["signatories"], event["observers"]) == (node["signatories"], node["observers"])
        else:
            assert event.keys() == EXERCISED
            assert event["lastDescendantNodeId"] == last(node)
            assert (event["choice"], event["choiceArgument"]) == (node["choice"], node["choice_argument"])
            assert (event["exerciseResult"], event["consuming"]) == (node["exercise_result"], node["consuming"])
            assert (event["actingParties"], event["interfaceId"]) == (node["acting_parties"], node["interface_id"])
    deltas = {event["contractId"] for _, event in found if event["acsDelta"]}
    assert deltas == {event["contractId"] for _, event in events(sandbox, item, wanted(anyone=True))}


def test_a_party_sees_the_changes_of_its_own_contracts_only(sandbox, items, stakeholders):
    user, seen, hidden = "alice", 0, 0
    party = party_of(sandbox, user)
    for item in [one for one in items if "events_by_id" in one][:150]:
        body = {"updateId": item["update_id"], "requestingParties": [party]}
        answer = call(sandbox, BY_ID, body, user=user)
        whole = events(sandbox, item, wanted(anyone=True))
        mine = [event["contractId"] for _, event in whole if party in stakeholders[event["contractId"]]]
        if answer.status == 404:
            assert mine == []
            hidden += 1
            continue
        found = [next(iter(one.values())) for one in answer.json["transaction"]["events"]]
        assert [event["contractId"] for event in found] == mine
        assert all(event["witnessParties"] == [party] for event in found)
        seen += bool(mine) and len(mine) < len(whole)
    assert seen
    assert hidden


def test_a_witness_sees_in_effects_what_happens_below_an_exercise_of_its_own(sandbox, items):
    pays = first(
        items, lambda one: "events_by_id" in one and next(preorder(one)).get("choice") == "AmuletRules_Transfer"
    )
    root = next(preorder(pays))
    sender = root["acting_parties"][0]

    found = events(sandbox, pays, wanted(sender, shape=EFFECTS))

    assert len(found) == len(pays["events_by_id"])
    assert all(event["witnessParties"] == [sender] for _, event in found)
    assert len(events(sandbox, pays, wanted(sender))) < len(found)


@pytest.mark.parametrize(
    ("variant", "passes"),
    [
        ({"WildcardFilter": {"value": {}}}, {"Amulet", "OpenMiningRound", "ValidatorLicense"}),
        ({"TemplateFilter": {"value": {"templateId": "#splice-amulet:Splice.Amulet:Amulet"}}}, {"Amulet"}),
        ({"TemplateFilter": {"value": {"templateId": "#other:Splice.Amulet:Amulet"}}}, set()),
        ({"InterfaceFilter": {"value": {"interfaceId": "#api:Splice.Api.Token.HoldingV1:Holding"}}}, {"Amulet"}),
        ({"InterfaceFilter": {"value": {"interfaceId": "#api:Splice.Api.Token.HoldingV1:Other"}}}, set()),
        ({"Empty": {}}, set()),
    ],
    ids=["wildcard", "template", "other package", "interface", "other interface", "empty"],
)
def test_a_filter_lets_its_own_templates_through(sandbox, items, variant, passes):
    seen = set()
    for item in [one for one in items if "events_by_id" in one][:60]:
        for _, event in events(sandbox, item, wanted(anyone=True, filters=[variant])):
            seen.add(event["templateId"].rpartition(":")[2])

    assert seen >= passes
    assert seen <= passes | {"LockedAmulet"} if passes == {"Amulet"} else True
    assert bool(seen) == bool(passes)


def test_the_blob_comes_only_where_it_was_asked_for(sandbox, items):
    item = first(items, big)
    plain = {"WildcardFilter": {"value": {}}}
    with_blob = {"WildcardFilter": {"value": {"includeCreatedEventBlob": True}}}

    def blobs(*filters):
        found = events(sandbox, item, wanted(anyone=True, filters=filters))
        return {bool(event["createdEventBlob"]) for kind, event in found if kind == "CreatedEvent"}

    assert blobs(plain) == blobs() == {False}
    assert blobs(with_blob) == blobs(plain, with_blob) == {True}


def test_without_parties_and_format_nothing_is_given(sandbox, newer, items):
    for body in ({}, {"requestingParties": []}):
        answer = call(sandbox, BY_ID, {"updateId": items[0]["update_id"], **body})
        assert (answer.status, answer.json["code"]) == (400, "INVALID_ARGUMENT")
        assert "Either transaction_format or requesting_parties is required" in answer.json["cause"]
    answer = call(newer, UPDATE, {"updateId": items[0]["update_id"]})
    assert (answer.status, answer.content_type) == (400, "text/plain; charset=utf-8")


def test_a_user_reads_as_nobody_else(sandbox, items):
    for chosen in (wanted(anyone=True), wanted(party_of(sandbox, "alice"), party_of(sandbox, "bob"))):
        answer = call(sandbox, BY_ID, {"updateId": items[0]["update_id"], "transactionFormat": chosen}, user="alice")
        assert (answer.status, answer.json.keys()) == (403, ERROR)


def test_an_unknown_transaction_gets_the_ledger_s_error_body(sandbox, items):
    moved = first(items, lambda one: "event" in one)["update_id"]
    for update_id in ("1220ab", moved):
        answer = call(sandbox, BY_ID, {"updateId": update_id, "transactionFormat": wanted(anyone=True)})

        assert answer.status == 404
        assert answer.json.keys() == ERROR
        assert (answer.json["code"], answer.json["errorCategory"], answer.json["grpcCodeValue"]) == (
            "TRANSACTION_NOT_FOUND", 11, 5,
        )  # fmt: skip
        assert answer.json["definiteAnswer"] is False
        assert answer.json["correlationId"]
        assert answer.json["context"]["tid"] == answer.json["traceId"]
        assert answer.json["resources"] == [["TRANSACTION_ID", update_id]]


def test_a_request_that_makes_no_sense_gets_a_json_400(sandbox, items):
    changes = {
        "parties and format": {"requestingParties": ["a"], "transactionFormat": wanted("a")},
        "nobody's events": {"transactionFormat": {"eventFormat": {}}},
        "no reference": {
            "transactionFormat": wanted("a", filters=[{"TemplateFilter": {"value": {"templateId": "Iou"}}}])
        },
    }
    for what, change in changes.items():
        answer = call(sandbox, BY_ID, {"updateId": items[0]["update_id"], **change})
        told = answer.json
        assert (answer.status, told.keys()) == (400, ERROR), what
        assert (told["code"], told["errorCategory"], told["grpcCodeValue"]) == ("INVALID_ARGUMENT", 8, 3), what


def test_the_newer_look_up_shows_both_halves_of_a_reassignment(newer, items):
    halves = [item for item in items if "event" in item]
    for item in (
        first(halves, lambda one: "created_event" in one["event"]),
        first(halves, lambda one: "contract_id" in one["event"]),
    ):
        body = {
            "updateId": item["update_id"],
            "updateFormat": {"includeReassignments": wanted(anyone=True)["eventFormat"]},
        }
        found = call(newer, UPDATE, body).json["update"]["Reassignment"]["value"]
        ((kind, event),) = found["events"][0].items()
        value, move = event.get("value", event), item["event"]
        moved = move.get("created_event", move)["contract_id"]

        assert kind == ("JsAssignmentEvent" if "created_event" in move else "JsUnassignedEvent")
        assert (kind == "JsUnassignedEvent") == (event.keys() == {"value"})
        assert (value["source"], value["target"]) == (move["source_synchronizer"], move["target_synchronizer"])
        assert (value["reassignmentId"], value["reassignmentCounter"]) == (
            move["unassign_id"],
            move["reassignment_counter"],
        )
        assert value.get("createdEvent", value)["contractId"] == moved
        assert value.get("createdEvent", value)["templateId"].endswith((":Iou:Iou", ":Splice.Amulet:Amulet"))
        assert found["recordTime"] == item["record_time"]
        assert type(found["offset"]) is int


def test_the_newer_look_up_finds_only_the_kinds_asked_for(newer, items):
    formats = {
        "events_by_id": {"includeTransactions": wanted(anyone=True)},
        "event": {"includeReassignments": wanted(anyone=True)["eventFormat"]},
        "nothing": {},
    }
    for asked, chosen in formats.items():
        for member in ("events_by_id", "event"):
            item = first(items, lambda one, member=member: member in one)
            answer = call(newer, UPDATE, {"updateId": item["update_id"], "updateFormat": chosen})

            assert answer.status == (200 if asked == member else 404)
            assert asked == member or answer.json["code"] == "UPDATE_NOT_FOUND"


def test_a_view_that_a_contract_cannot_give_says_so_in_its_status():
    view = {"interfaceId": "#p:Splice.Api.Token.HoldingV1:Holding", "includeInterfaceView": True}
    wanted = {"cumulative": [{"identifierFilter": {"InterfaceFilter": {"value": view}}}]}
    with started(hostile=True, updates=150) as sandbox:
        body = {"eventFormat": {"filtersForAnyParty": wanted}, "maxPageSize": 1_000}
        entries = call(sandbox, "/v2/state/active-contracts-page", body).json["activeContracts"]

    active = [one["contractEntry"]["JsActiveContract"] for one in entries if "JsActiveContract" in one["contractEntry"]]
    views = [view for one in active for view in one["createdEvent"]["interfaceViews"]]
    assert {one["viewStatus"]["code"] for one in views} == {0, 9}
    assert all(("viewValue" in one) == (one["viewStatus"]["code"] == 0) for one in views)
