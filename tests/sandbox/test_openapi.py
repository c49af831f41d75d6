"""The OpenAPI document is valid, lists what is served and nothing else, and every answer is as it says."""

from __future__ import annotations

import json
import re

import pytest
from asking import ask, party_of
from dars import dar

from ledgerframes.interfaces.catalogue import CALLS
from ledgerframes.sandbox.http.openapi import FILE
from ledgerframes.sandbox.http.releases import LIFETIMES, RELEASES
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.accounts import Right, User
from ledgerframes.sandbox.world.templates import DSO_RULES, NAME_ENTRY

PREFIX = {"scan": "/api/scan", "validator": "/api/validator", "ledger": "/api/ledger", "registry": ""}
VARIANTS = [{"release": release} for release in RELEASES]
SUMMARY = "/api/validator/v{}/scan-proxy/holdings/summary"
FACTORY = "/registry/allocation-instruction/v1/allocation-factory"
EARLIEST = "/api/scan/v0/internal/reward-accounting-process/rounds/earliest-available"


@pytest.fixture(scope="module", params=[{}, {"release": "0.7"}, {"hostile": True}], ids=["usual", "0.7", "hostile"])
def sandbox(request):
    with start(updates=500, **request.param) as running:
        yield running


@pytest.fixture(scope="module")
def document(sandbox):
    return described(sandbox)


def described(sandbox):
    answer = ask(f"{sandbox.url}/openapi.json")
    assert answer.status == 200
    return answer.json


def operations(document):
    """Every operation with its method and path."""
    return [
        (method.upper(), path, operation)
        for path, one in document["paths"].items()
        for method, operation in one.items()
    ]


def conforms(document, schema, value):
    """Whether a value is as a schema of the document says; if not, where."""
    from jsonschema import Draft202012Validator  # two seconds, which no other test has to wait for

    whole = {**schema, "components": document["components"]}
    error = next(Draft202012Validator(whole).iter_errors(plain(value)), None)
    assert error is None, f"{error.json_path}: {error.message[:300]}"


def plain(value):
    """The same with fractions as floats, as JSON Schema knows them."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | int) else float(value)


def schemas(node):
    """Every schema below a node of the document."""
    if isinstance(node, dict):
        if "schema" in node:
            yield node["schema"]
        for one in node.values():
            yield from schemas(one)
    elif isinstance(node, list):
        for one in node:
            yield from schemas(one)


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for one in node.values():
            yield from references(one)
    elif isinstance(node, list):
        for one in node:
            yield from references(one)


@pytest.mark.long(quick=1)
def test_every_schema_is_one_and_every_reference_leads_somewhere(document):
    from jsonschema import Draft202012Validator

    named = document["components"]["schemas"]

    for schema in [*named.values(), *schemas(document["paths"])]:
        Draft202012Validator.check_schema(schema)
    assert {f"#/components/schemas/{name}" for name in named} == set(references(document))
    assert document["openapi"] == "3.1.0"
    assert len({operation["operationId"] for *_, operation in operations(document)}) == len(operations(document))


def test_every_operation_is_whole(document):
    for method, path, operation in operations(document):
        in_path = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), path
        assert "200" in operation["responses"], path
        assert all(one["description"] for one in operation["responses"].values()), path
        assert ("requestBody" in operation) == (method == "POST"), path
        guarded = path.startswith(("/api/ledger", "/api/validator"))
        assert bool(operation.get("security")) == guarded == ("401" in operation["responses"]), path


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_it_lists_the_routes_that_are_served_and_no_others(options):
    with start(updates=5, **options) as sandbox:
        listed = {(method, path) for method, path, _ in operations(described(sandbox))}
        token = sandbox.token("validator_operator")
        everything = {(one.endpoint.method, PREFIX[one.endpoint.interface] + one.endpoint.path) for one in CALLS}
        for method, path in listed | everything:
            url = sandbox.url + re.sub(r"\{\w+\}", "x", path)
            answer = ask(url, {} if method == "POST" else None, token=token, method=method)
            unknown = answer.status in (404, 405) and answer.content_type.startswith("text/plain")
            assert unknown == ((method, path) not in listed), (method, path)


def test_every_operation_and_schema_of_the_file_is_served_by_some_release():
    whole = json.loads(FILE.read_text(encoding="utf-8"))
    unserved, unused = ({(method, path) for method, path, _ in operations(whole)}, set(whole["components"]["schemas"]))
    for options in VARIANTS:
        with start(updates=5, **options) as sandbox:
            document = described(sandbox)
        for method, path, operation in operations(document):
            assert operation == whole["paths"][path][method.lower()]
            unserved.discard((method, path))
        unused -= document["components"]["schemas"].keys()
    assert unserved == set()
    assert unused == set()


def test_what_is_deprecated_is_marked_so_and_nothing_else(document):
    marked = {path for _, path, operation in operations(document) if operation.get("deprecated")}
    served = {path for _, path, _ in operations(document)}

    deprecated = {
        PREFIX[interface] + path.replace(":path}", "}")
        for (interface, path), lifetime in LIFETIMES.items()
        if lifetime.deprecated_in
    }
    assert marked == deprecated & served
    assert marked


def test_a_method_that_a_path_has_not_is_refused_with_those_it_has(sandbox, document):
    for path, one in document["paths"].items():
        url = sandbox.url + re.sub(r"\{\w+\}", "x", path)

        answer = ask(url, method="PATCH")

        assert answer.status == 405, path
        allowed = {method.strip().lower() for method in answer.headers["Allow"].split(",")} - {"head"}
        assert allowed == set(one), path


def requests(sandbox, document):
    """One good request for each operation that is served: method, path of the document, its parameters, query, body."""
    return [one for one in every_request(sandbox) if one[0].lower() in document["paths"].get(one[1], {})]


def every_request(sandbox):
    """The same for each operation of any release."""
    world = sandbox.world
    update = next(world.items())["update_id"]
    signed = next(one.external_hash for one in world.updates if one.external_hash)
    party = party_of(sandbox, "alice")
    approving = party_of(sandbox, "validator_operator") or party
    any_party = {"transactionFormat": {"eventFormat": {"filtersForAnyParty": {}}}}
    any_update = {"updateFormat": {"includeTransactions": any_party["transactionFormat"]}}
    both = {**any_update["updateFormat"], "includeReassignments": {"filtersForAnyParty": {}}}
    any_update_and_move = {"updateFormat": both}
    newest = {"migration_id": world.updates[-1].migration_id, "record_time": "9999-01-01T00:00:00Z"}
    held = {**newest, "owner_party_ids": [party], "record_time_match": "at_or_before", "as_of_round": 7}
    leg = {"allocation": {"transferLeg": {"instrumentId": {"id": "Amulet"}}}}
    extra = {"extraArgs": {"context": {}, "meta": {"values": {}}}}
    terms = {"issuer": party, "owner": party, "currency": "USD", "amount": "7.5", "observers": [], "reference": None}
    create = {"CreateCommand": {"templateId": "#iou-app:Iou:Iou", "createArguments": terms}}
    batch = {"commands": [create], "commandId": "an IOU", "actAs": [party]}
    unassign = {"contractId": coin_of(world, party), "source": world.synchronizers[0], "target": world.synchronizers[1]}
    way = {"commands": [{"command": {"UnassignCommand": {"value": unassign}}}], "submitter": party}
    move = {"reassignmentCommands": {**way, "commandId": "a move"}, "eventFormat": {"filtersForAnyParty": {}}}
    person = {"user": {"id": "nora"}, "rights": [{"kind": {"CanReadAs": {"value": {"party": party}}}}]}
    return [
        ("POST", "/api/ledger/v2/users", {}, "", person),
        ("POST", "/api/ledger/v2/commands/submit-and-wait-for-transaction-tree", {}, "", batch),
        ("POST", "/api/ledger/v2/commands/submit-and-wait-for-reassignment", {}, "", move),
        ("POST", "/api/ledger/v2/commands/async/submit-reassignment", {}, "", move),
        ("POST", "/api/scan/v2/updates", {}, "", {"page_size": 1_000}),
        ("GET", "/api/scan/v1/updates/{update_id}", {"update_id": update}, "", None),
        ("GET", "/api/scan/v2/updates/{update_id}", {"update_id": update}, "", None),
        ("GET", "/api/scan/v2/updates/hash/{hash}", {"hash": signed}, "?daml_value_encoding=protobuf_json", None),
        ("POST", "/api/scan/v0/ans-rules", {}, "", {}),
        ("GET", "/api/scan/v0/admin/validator/licenses", {}, "?limit=30", None),
        ("GET", EARLIEST, {}, "", None),
        *neighbour_requests(world, party),
        ("POST", SUMMARY.format(0), {}, "", held),
        ("POST", SUMMARY.format(1), {}, "", held),
        ("GET", "/api/validator/v0/wallet/transfer-offers", {}, "", None),
        ("GET", "/api/validator/v0/entry/all", {}, "", None),
        ("GET", "/api/validator/v0/scan-proxy/transfer-preapprovals/by-party/{party}", {"party": approving}, "", None),
        ("GET", "/registry/metadata/v1/instruments", {}, "?pageSize=100", None),
        ("GET", "/registry/metadata/v1/instruments/{instrumentId}", {"instrumentId": "Amulet"}, "", None),
        ("GET", "/registry/metadata/v1/info", {}, "", None),
        ("POST", FACTORY, {}, "", {"choiceArguments": {**leg, **extra}}),
        ("GET", "/api/ledger/v2/users", {}, "?pageSize=100", None),
        ("POST", "/api/ledger/v2/updates/transaction-by-id", {}, "", {"updateId": update, **any_party}),
        ("POST", "/api/ledger/v2/updates/update-by-id", {}, "", {"updateId": update, **any_update}),
        ("GET", "/api/ledger/v2/state/ledger-end", {}, "", None),
        ("POST", "/api/ledger/v2/updates/get-updates-page", {}, "", {**any_update_and_move, "maxPageSize": 1_000}),
        ("POST", "/api/ledger/v2/state/active-contracts-page", {}, "", {"eventFormat": {"filtersForAnyParty": {}}}),
        ("POST", "/api/ledger/v2/packages", {}, "?vetAllPackages=false", dar()),
        ("POST", "/api/ledger/v2/dars/validate", {}, "", dar()),
    ]


def neighbour_requests(world, party):
    """A good request for each operation of scan beside the contract's."""
    newest = world.updates[-1].migration_id
    snapshot = {"migration_id": newest, "record_time": "9999-01-01T00:00:00Z", "record_time_match": "at_or_before"}
    page = {**snapshot, "page_size": 1_000}
    time = f"?migration_id={newest}&before=9999-01-01T00:00:00Z"
    member = world.rules[DSO_RULES.entity].payload["svs"][0][0] if world.rules else party
    lasting = max(world.contracts.of(NAME_ENTRY), key=lambda one: one.payload["expiresAt"], default=None)
    name = lasting.payload["name"] if lasting else "nobody"
    cached = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    traffic = {"domain_id": world.synchronizers[0], "member_id": f"PAR::{member}"}
    return [
        ("POST", "/api/scan/v0/open-and-issuing-mining-rounds", {}, "", cached),
        *(("GET", f"/api/scan/v0/{one}", {}, "", None) for one in ("closed-rounds", "featured-apps", "dso", "scans")),
        ("GET", "/api/scan/v0/domains/{domain_id}/members/{member_id}/traffic-status", traffic, "", None),
        ("GET", "/api/scan/v0/ans-entries", {}, "?page_size=1000", None),
        ("GET", "/api/scan/v0/ans-entries/by-party/{party}", {"party": party}, "", None),
        ("GET", "/api/scan/v0/ans-entries/by-name/{name}", {"name": name}, "", None),
        ("GET", "/api/scan/v0/validators/validator-faucets", {}, f"?validator_ids={party}", None),
        *(
            ("POST", f"/api/scan/v{version}/holdings/summary", {}, "", {**snapshot, "owner_party_ids": [party]})
            for version in (0, 1)
        ),
        ("GET", "/api/scan/v0/state/acs/snapshot-timestamp", {}, time, None),
        *(("POST", f"/api/scan/v{version}/state/acs", {}, "", page) for version in (0, 1, 2)),
        ("GET", "/api/scan/v0/events/latest-record-time", {}, "", None),
        *(
            ("POST", f"/api/scan/v{version}/holdings/state", {}, "", {**page, "owner_party_ids": [party]})
            for version in (0, 1, 2)
        ),
    ]


def coin_of(world, party):
    """A coin that the party may move, on the first synchronizer."""
    coins = (one for one in world.contracts.active.values() if one.template.entity == "Splice.Amulet:Amulet")
    mine = (one for one in coins if party in one.signatories and one.synchronizer_id == world.synchronizers[0])
    return next((one.contract_id for one in mine), "none")


def send(sandbox, method, path, parameters, query, body, **options):
    for name, value in parameters.items():
        path = path.replace(f"{{{name}}}", value.replace("/", "%2F").replace(" ", "%20").replace("#", "%23"))
    binary = {"Content-Type": "application/octet-stream"} if isinstance(body, bytes) else {}
    return ask(f"{sandbox.url}{path}{query}", body, method=method, headers=binary, **options)


def check(document, answer, method, path):
    """An answer's status, content type and body are as the document says."""
    responses = document["paths"][path][method.lower()]["responses"]
    assert str(answer.status) in responses, (path, answer.status, answer.body[:200])
    content = responses[str(answer.status)].get("content")
    if content is None:
        assert answer.body == b""
        return
    kind = answer.content_type.partition(";")[0]
    assert kind in content, (path, answer.status, kind)
    if kind == "application/json":
        conforms(document, content[kind]["schema"], answer.json)


@pytest.mark.long(quick=1)
def test_every_answer_is_as_the_document_says(sandbox, document):
    admit_alice(sandbox)
    answered = {}
    for method, path, parameters, query, body in requests(sandbox, document):
        answer = send(sandbox, method, path, parameters, query, body, token=sandbox.token("all_of_alice"))
        check(document, answer, method, path)
        answered[method, path] = answer.status
    refused = {path for path, status in answered.items() if status != 200}
    # What alice moves once cannot be moved again; a hostile ledger has next to nothing but its history.
    assert sandbox.world.simulation is None or refused == {
        ("POST", "/api/ledger/v2/commands/async/submit-reassignment")
    }


def admit_alice(sandbox):
    """Add a user who acts as alice and may do everything else."""
    party = party_of(sandbox, "alice")
    rights = {Right("ParticipantAdmin"), Right("CanReadAsAnyParty"), Right("CanActAs", party)}
    sandbox.world.accounts.put(User("all_of_alice", primary_party=party, rights=frozenset(rights)))


def test_good_requests_are_as_the_document_says(sandbox, document):
    for method, path, _, _, body in requests(sandbox, document):
        if isinstance(body, dict):
            operation = document["paths"][path][method.lower()]
            conforms(document, operation["requestBody"]["content"]["application/json"]["schema"], body)


@pytest.mark.parametrize(
    ("body", "token"),
    [(b"\xff", "validator_operator"), (b"[" * 100_000, "validator_operator"), (b"{}", "alice"), (b"null", "nobody")],
    ids=["no text", "too deep", "nothing in it", "nobody"],
)
def test_every_refusal_is_as_the_document_says(sandbox, document, body, token):
    for method, path, parameters, _, _ in requests(sandbox, document):
        sent = body if method == "POST" else None
        answer = send(sandbox, method, path, parameters, "?limit=0&pageSize=-1", sent, token=sandbox.token(token))
        check(document, answer, method, path)
