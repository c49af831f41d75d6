"""The ledger interface's look-ups on a real loopback port: shapes, filters and refusals that no loader asks for."""

import pytest

from tests.sandbox.asking import call
from tests.sandbox.commanding import BY_ID, ERROR
from tests.sandbox.economy_books import preorder

DELTA, EFFECTS = "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"


@pytest.fixture(scope="module")
def transactions(items):
    return [item for item in items if "events_by_id" in item]


@pytest.fixture(scope="module")
def big(transactions):
    """One of many events, some of whose contracts come and go."""
    return next(item for item in transactions if len(item["events_by_id"]) > 10 and lasting(item)[1])


def lasting(item):
    """The contracts that a transaction creates or consumes, and those of them that it does both to."""
    events = item["events_by_id"].values()
    made = {one["contract_id"] for one in events if one["event_type"] == "created_event"}
    gone = {one["contract_id"] for one in events if one.get("consuming")}
    return made ^ gone, made & gone


def wanted(*parties, shape=DELTA, filters=(), anyone=False):
    """A transaction format for these parties."""
    cumulative = {"cumulative": [{"identifierFilter": one} for one in filters]}
    formats = {"filtersByParty": dict.fromkeys(parties, cumulative)}
    if anyone:
        formats["filtersForAnyParty"] = cumulative
    return {"eventFormat": formats, "transactionShape": shape}


def events(sandbox, item, chosen):
    """The (kind, event) pairs that a transaction shows."""
    body = {"updateId": item["update_id"], "transactionFormat": chosen}
    found = call(sandbox, "ledger", BY_ID, body).json["transaction"]["events"]
    return [pair for one in found for pair in one.items()]


def last(item, event):
    """The number of the last event below one."""
    below = event.get("child_event_ids")
    return last(item, item["events_by_id"][below[-1]]) if below else int(event["event_id"].rpartition(":")[2])


def test_the_acs_delta_holds_what_comes_and_what_goes_but_nothing_in_between(sandbox, big, net_books):
    found = events(sandbox, big, wanted(anyone=True))
    effects = events(sandbox, big, wanted(anyone=True, shape=EFFECTS))

    assert [(kind, event["nodeId"], event["contractId"]) for kind, event in found] == [
        ("CreatedEvent" if one["event_type"] == "created_event" else "ArchivedEvent", number, one["contract_id"])
        for number, one in enumerate(preorder(big))
        if one["contract_id"] in lasting(big)[0] and one.get("consuming", True)
    ]
    for _, event in found:
        made = net_books.lives[event["contractId"]].event
        assert {*event["witnessParties"]} == {*made["signatories"], *made["observers"]}
    assert {event["contractId"] for _, event in effects if event["acsDelta"]} == {one["contractId"] for _, one in found}
    for number, ((_, event), node) in enumerate(zip(effects, preorder(big), strict=True)):
        assert (event["nodeId"], event["contractId"]) == (number, node["contract_id"])
        if "choice" in node:
            assert (event["lastDescendantNodeId"], event["interfaceId"]) == (last(big, node), node["interface_id"])
    assert events(sandbox, big, wanted(anyone=True, shape="TRANSACTION_SHAPE_UNSPECIFIED")) == found


def test_a_witness_sees_in_effects_what_happens_below_an_exercise_of_its_own(sandbox, transactions):
    pays = next(one for one in transactions if next(preorder(one)).get("choice") == "AmuletRules_Transfer")
    sender = next(preorder(pays))["acting_parties"][0]

    found = events(sandbox, pays, wanted(sender, shape=EFFECTS))

    assert len(found) == len(pays["events_by_id"]) > len(events(sandbox, pays, wanted(sender)))
    assert all(event["witnessParties"] == [sender] for _, event in found)


API = "#api:Splice.Api.Token.HoldingV1"


@pytest.mark.parametrize(
    ("variant", "passes"),
    [
        ({"WildcardFilter": {"value": {}}}, {"Amulet", "OpenMiningRound", "ValidatorLicense"}),
        ({"TemplateFilter": {"value": {"templateId": "#splice-amulet:Splice.Amulet:Amulet"}}}, {"Amulet"}),
        ({"TemplateFilter": {"value": {"templateId": "#other:Splice.Amulet:Amulet"}}}, set()),
        ({"InterfaceFilter": {"value": {"interfaceId": f"{API}:Holding"}}}, {"Amulet"}),
        ({"InterfaceFilter": {"value": {"interfaceId": f"{API}:Other"}}}, set()),
        ({"Empty": {}}, set()),
    ],
    ids=["wildcard", "template", "other package", "interface", "other interface", "empty"],
)
def test_a_filter_lets_its_own_templates_through(sandbox, transactions, variant, passes):
    seen = {
        event["templateId"].rpartition(":")[2]
        for item in transactions[:60]
        for _, event in events(sandbox, item, wanted(anyone=True, filters=[variant]))
    }

    assert seen >= passes
    assert seen <= passes | {"LockedAmulet"} if passes == {"Amulet"} else True
    assert bool(seen) == bool(passes)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"requestingParties": []},
        {"requestingParties": ["a"], "transactionFormat": wanted("a")},
        {"transactionFormat": {"eventFormat": {}}},
        {"transactionFormat": wanted("a", filters=[{"TemplateFilter": {"value": {"templateId": "Iou"}}}])},
    ],
    ids=["nothing", "no parties", "parties and format", "nobody's events", "no reference"],
)
def test_a_request_that_makes_no_sense_gets_a_json_400(sandbox, big, change):
    assert_refused(sandbox, {"updateId": big["update_id"], **change}, 400, "INVALID_ARGUMENT", 8, 3)


def test_an_unknown_transaction_gets_the_ledger_s_error_body(sandbox, items):
    moved = next(one for one in items if "event" in one)["update_id"]
    for update_id in ("1220ab", moved):
        body = {"updateId": update_id, "transactionFormat": wanted(anyone=True)}
        told = assert_refused(sandbox, body, 404, "TRANSACTION_NOT_FOUND", 11, 5)
        assert told["definiteAnswer"] is False
        assert told["correlationId"]
        assert told["context"]["tid"] == told["traceId"]
        assert told["resources"] == [["TRANSACTION_ID", update_id]]


def assert_refused(sandbox, body, status, *codes):
    answer = call(sandbox, "ledger", BY_ID, body)
    assert (answer.status, answer.json.keys()) == (status, ERROR)
    assert tuple(answer.json[name] for name in ("code", "errorCategory", "grpcCodeValue")) == codes
    return answer.json
