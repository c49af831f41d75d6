"""A request that cannot be read is refused as its interface refuses, and changes nothing."""

from __future__ import annotations

import pytest

from tests.sandbox.asking import ask
from tests.sandbox.commanding import IOU, REASSIGN, TREE, USERS, create, unassign
from tests.sandbox.dars import dar
from tests.sandbox.ledger_calls import BY_ID

PAGE, LICENSES, SUMMARY = "/v2/updates", "/v0/admin/validator/licenses", "/v0/scan-proxy/holdings/summary"
INSTRUMENTS = "/registry/metadata/v1/instruments"
FACTORY = "/registry/allocation-instruction/v1/allocation-factory"
DAY, NOBODY = "2025-03-03T09:00:00Z", {"context": {}, "meta": {}}


def page(migration_id=0, time=DAY, **members):
    return {"page_size": 5, "after": {"after_migration_id": migration_id, "after_record_time": time}, **members}


def summary(**members):
    return {"migration_id": 1, "record_time": DAY, "owner_party_ids": ["a"], **members}


def factory(**members):
    leg = {"sender": "a", "receiver": "b", "amount": "1.0", "instrumentId": {"admin": "d", "id": "Amulet"}}
    return {"choiceArguments": {"allocation": {"transferLeg": leg}, "extraArgs": NOBODY, **members}}


def user(**members):
    return {"user": {"id": "u", **members}}


def annotated(**annotations):
    return user(metadata={"annotations": annotations})


def right(**kind):
    return {"user": {"id": "v"}, "rights": [{"kind": kind}]}


def batch(**members):
    return {"commands": [create(IOU, {})], "commandId": "c", "actAs": ["a"], **members}


def moves(**members):
    body = {"commands": [unassign("00", "a::1", "b::1")], "commandId": "c", "submitter": "a", **members}
    return {"reassignmentCommands": body}


def filtered(**one):
    shown = {"filtersByParty": {"a": {"cumulative": [{"identifierFilter": one}]}}}
    return {"updateId": "a", "transactionFormat": {"eventFormat": shown}}


#: By interface and path: the bodies that are refused, or of None what the query is.
BODIES = {
    ("scan", PAGE): [
        b"{",
        {},
        {"page_size": 0},
        {"page_size": 2**31},
        {"page_size": 5, "after": {"after_migration_id": 0}},
        page(migration_id=2**63),
        page(time="2025-02-30T09:00:00Z"),
        page(time="2025-03-03T09:00:00"),
        page(time="0001-01-01T00:00:00+01:00"),
        page(daml_value_encoding="xml"),
    ],
    ("scan", "/v0/ans-rules"): [b"nothing"],
    ("validator", SUMMARY): [
        summary(owner_party_ids=[]),
        summary(owner_party_ids="alice"),
        summary(migration_id=2**63),
        summary(record_time="yesterday"),
        summary(record_time_match="before"),
    ],
    ("registry", FACTORY): [
        {},
        {"choiceArguments": {}},
        factory(extraArgs=None),
        factory(extraArgs={"context": {"a": 1}, "meta": {}}),
        factory(extraArgs={"context": {}, "meta": {"values": {"a": 1}}}),
        factory(allocation=None),
        factory(allocation={"transferLeg": {}}),
        {**factory(), "excludeDebugFields": "yes"},
    ],
    ("ledger", USERS): [
        {"user": {}},
        user(id="a b"),
        user(id="x" * 129),
        user(primaryParty="a#b"),
        user(isDeactivated="no"),
        user(metadata={"resourceVersion": "0"}),
        annotated(**{"-a": "v"}),
        annotated(**{"a" * 64: "v"}),
        annotated(**{"a..b/c": "v"}),
        annotated(**{"a" * 254 + "/c": "v"}),
        annotated(a=""),
        annotated(a="é" * 131_072),
        right(),
        right(CanFly={"value": {}}),
        right(CanActAs={}),
        right(CanActAs={"value": {"party": "a"}}, ParticipantAdmin={}),
    ],
    ("ledger", TREE): [
        batch(commands=[]),
        batch(commands=[{"DanceCommand": {}}]),
        batch(commands=[{"CreateCommand": {"templateId": IOU}}]),
        batch(commands=[{"ExerciseByKeyCommand": {"templateId": IOU}}]),
        batch(commandId=None),
        batch(actAs=["a#b"]),
    ],
    ("ledger", REASSIGN): [
        b"{",
        b"{}",
        moves(commands=[]),
        moves(commands=[{"command": {"MoveCommand": {"value": {}}}}]),
        moves(commands=[{"command": {"UnassignCommand": {"value": {"contractId": "00"}}}}]),
        moves(commandId="é"),
        moves(commandId="x" * 256),
        moves(submitter="a#b"),
        moves(userId="a b"),
    ],
    ("ledger", BY_ID): [
        b"{",
        {},
        {"updateId": "a", "transactionFormat": {"eventFormat": {}, "transactionShape": "ROUND"}},
        filtered(),
        filtered(Empty={}, WildcardFilter={"value": {}}),
        filtered(WildcardFilter={}),
        filtered(OtherFilter={"value": {}}),
    ],
}
#: The same for queries.
QUERIES = {
    ("scan", LICENSES): ["limit=0", "limit=1001", "limit=1_0", "after=x", f"after={2**63}"],
    ("scan", "/v1/updates/00"): ["daml_value_encoding=xml"],
    ("registry", INSTRUMENTS): ["pageSize=0", "pageSize=x", f"pageSize={2**31}", "pageToken=eHg="],
    ("ledger", USERS): [
        "pageSize=x", "pageSize=1_0", "pageSize=-1", f"pageSize={2**31}", "pageToken=%C3%A4", "pageToken=YWxpY2U=",
    ],
    ("ledger", "/v2/packages"): ["vetAllPackages=maybe", "synchronizerId=nonsense"],
    ("ledger", "/v2/dars/validate"): ["synchronizerId=a%0A::b"],
}  # fmt: skip
ROWS = [(place, "", body) for place, bodies in BODIES.items() for body in bodies]
ROWS += [(place, query, None) for place, queries in QUERIES.items() for query in queries]


@pytest.mark.parametrize(("place", "query", "body"), ROWS, ids=lambda one: ascii(one)[:90])
def test_what_cannot_be_read_is_refused_and_changes_nothing(sandbox, place, query, body):
    interface, path = place
    world, binary = sandbox.world, {}
    if path in ("/v2/packages", "/v2/dars/validate"):
        body, binary = dar(), {"Content-Type": "application/octet-stream"}
    before = len(world.accounts), len(world.ledger_updates), len(sandbox.packages)
    url = f"{getattr(sandbox, f'{interface}_url')}{path}?{query}"

    answer = ask(
        url, body, token=sandbox.token("alice" if interface == "validator" else "participant_admin"), headers=binary
    )

    assert answer.status == 400
    assert (len(world.accounts), len(world.ledger_updates), len(sandbox.packages)) == before
    if interface == "ledger":
        assert answer.content_type == "text/plain; charset=utf-8"
        assert (query.partition("=")[0] if query else "Invalid value for: body").encode() in answer.body
    else:
        assert answer.json.keys() == {"error"}
