"""A request that cannot be read is refused as its interface refuses, and changes nothing."""

import pytest

from tests.sandbox.asking import call
from tests.sandbox.commanding import BY_ID, IOU, REASSIGN, TREE, USERS, create, unassign
from tests.sandbox.dars import dar

DAY, NOTHING = "2025-03-03T09:00:00Z", {"context": {}, "meta": {}}
LEG = {"sender": "a", "receiver": "b", "amount": "1.0", "instrumentId": {"admin": "d", "id": "Amulet"}}
SHOWN = {"filtersByParty": {"a": {"cumulative": [{"identifierFilter": {"WildcardFilter": {"value": {}}}}]}}}
FILTER = "transactionFormat.eventFormat.filtersByParty.a.cumulative.0.identifierFilter"
KIND, NOTES, ARGUMENTS = "rights.0.kind", "user.metadata.annotations", "choiceArguments.extraArgs"
COMMAND = "reassignmentCommands.commands.0.command"

#: By interface and path: a body that can be read, and what may stand in a place of it instead (`...` for nothing).
BODIES = {
    ("scan", "/v2/updates"): (
        {"page_size": 5, "after": {"after_migration_id": 0, "after_record_time": DAY}},
        ("page_size", ..., 0, 2**31), ("after.after_record_time", ...), ("after.after_migration_id", 2**63),
        ("after.after_record_time", "2025-02-30T09:00:00Z", "2025-03-03T09:00:00", "0001-01-01T00:00:00+01:00"),
        ("daml_value_encoding", "xml"),
    ),
    ("validator", "/v0/scan-proxy/holdings/summary"): (
        {"migration_id": 1, "record_time": DAY, "owner_party_ids": ["a"]},
        ("owner_party_ids", [], "alice"), ("migration_id", 2**63), ("record_time", "yesterday"),
        ("record_time_match", "before"),
    ),
    ("registry", "/registry/allocation-instruction/v1/allocation-factory"): (
        {"choiceArguments": {"allocation": {"transferLeg": LEG}, "extraArgs": NOTHING}},
        ("choiceArguments", ..., {}), (ARGUMENTS, None, {"context": {"a": 1}, "meta": {}}),
        (f"{ARGUMENTS}.meta", {"values": {"a": 1}}), ("choiceArguments.allocation", None, {"transferLeg": {}}),
        ("excludeDebugFields", "yes"),
    ),
    ("ledger", USERS): (
        {"user": {"id": "u", "metadata": {}}, "rights": [{"kind": {}}]},
        ("user", {}), ("user.id", "a b", "x" * 129), ("user.primaryParty", "a#b"), ("user.isDeactivated", "no"),
        ("user.metadata.resourceVersion", "0"), (NOTES, {"-a": "v"}, {"a" * 64: "v"}, {"a..b/c": "v"}),
        (NOTES, {"a" * 254 + "/c": "v"}, {"a": ""}, {"a": "é" * 131_072}), (KIND, {}, {"CanFly": {"value": {}}}),
        (KIND, {"CanActAs": {}}, {"CanActAs": {"value": {"party": "a"}}, "ParticipantAdmin": {}}),
    ),
    ("ledger", TREE): (
        {"commands": [create(IOU, {})], "commandId": "c", "actAs": ["a"]},
        ("commands", [], [{"DanceCommand": {}}], [{"CreateCommand": {"templateId": IOU}}]),
        ("commands", [{"ExerciseByKeyCommand": {"templateId": IOU}}]), ("commandId", None), ("actAs", ["a#b"]),
    ),
    ("ledger", REASSIGN): (
        {"reassignmentCommands": {"commands": [unassign("00", "a::1", "b::1")], "commandId": "c", "submitter": "a"}},
        ("reassignmentCommands", ...), ("reassignmentCommands.commands", []),
        (COMMAND, {"MoveCommand": {"value": {}}}, {"UnassignCommand": {"value": {"contractId": "00"}}}),
        ("reassignmentCommands.commandId", "é", "x" * 256), ("reassignmentCommands.submitter", "a#b"),
        ("reassignmentCommands.userId", "a b"),
    ),
    ("ledger", BY_ID): (
        {"updateId": "a", "transactionFormat": {"eventFormat": SHOWN}},
        ("updateId", ...), ("transactionFormat.transactionShape", "ROUND"), (FILTER, {}, {"WildcardFilter": {}}),
        (FILTER, {"Empty": {}, "WildcardFilter": {"value": {}}}, {"OtherFilter": {"value": {}}}),
    ),
}  # fmt: skip
#: The same for queries.
QUERIES = {
    ("scan", "/v0/admin/validator/licenses"): ["limit=0", "limit=1001", "limit=1_0", "after=x", f"after={2**63}"],
    ("scan", "/v1/updates/00"): ["daml_value_encoding=xml"],
    ("registry", "/registry/metadata/v1/instruments"): [
        "pageSize=0", "pageSize=x", f"pageSize={2**31}", "pageToken=eHg=",
    ],
    ("ledger", USERS): [
        "pageSize=x", "pageSize=1_0", "pageSize=-1", f"pageSize={2**31}", "pageToken=%C3%A4", "pageToken=YWxpY2U=",
    ],
    ("ledger", "/v2/packages"): ["vetAllPackages=maybe", "synchronizerId=nonsense"],
    ("ledger", "/v2/dars/validate"): ["synchronizerId=a%0A::b"],
}  # fmt: skip


def spoilt(body, place, wrong):
    """The same body with another value in a place."""
    first, _, rest = place.partition(".")
    key, copy = int(first) if isinstance(body, list) else first, body.copy()
    if rest:
        copy[key] = spoilt(body[key], rest, wrong)
    elif wrong is ...:
        del copy[key]
    else:
        copy[key] = wrong
    return copy


ROWS = [
    *((route, "", body) for route in BODIES for body in (b"{", b"nothing", *(
        spoilt(BODIES[route][0], place, wrong) for place, *values in BODIES[route][1:] for wrong in values
    ))),
    *((route, query, None) for route, queries in QUERIES.items() for query in queries),
]  # fmt: skip


@pytest.mark.parametrize(("route", "query", "body"), ROWS, ids=lambda one: ascii(one)[:90])
def test_what_cannot_be_read_is_refused_and_changes_nothing(sandbox, route, query, body):
    (interface, path), world = route, sandbox.world
    user = "alice" if interface == "validator" else "participant_admin"
    body, kind = (dar(), "octet-stream") if path in ("/v2/packages", "/v2/dars/validate") else (body, "json")
    before = len(world.accounts), len(world.ledger_updates), len(sandbox.packages)
    headers = {"Content-Type": f"application/{kind}"}

    answer = call(sandbox, interface, f"{path}?{query}", body, user=user, headers=headers)

    assert answer.status == 400
    assert (len(world.accounts), len(world.ledger_updates), len(sandbox.packages)) == before
    if interface == "ledger":
        assert answer.content_type == "text/plain; charset=utf-8"
        assert (query.partition("=")[0] if query else "Invalid value for: body").encode() in answer.body
    else:
        assert answer.json.keys() == {"error"}
