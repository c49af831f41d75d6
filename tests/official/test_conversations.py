"""Requests of the client are as the official files say, and so are answers of the sandbox where real ones are."""

import json
import pkgutil
import re
from collections import Counter
from importlib import import_module

import pytest

from docs.endpoints import CALLS
from ledgerframes import interfaces
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world.templates import FEATURED_RIGHT, NAME_ENTRY, PREAPPROVAL
from ledgerframes.transport import Endpoint
from tests.official.answer_faults import SHARED, faults, subject, unlike_real_servers
from tests.official.conversations import conversation, short_conversation
from tests.official.interface_files import operation, operations
from tests.replay import CAPTURES, read_capture
from tests.rigs.servers import started
from tests.sandbox.asking import ask, call

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.DeprecatedEndpointWarning")

# Endpoints that are in the contract or in older releases, but no longer in the official files of today.
UNOFFICIAL = {
    ("scan", "GET", "/v0/reward-accounting-process/rounds/earliest-available"): "where it was before release 0.6.5",
}
# Names that are sent besides what the files know, since the contract writes them otherwise.
BESIDES = {"contract_value_encoding": "the contract's spelling of daml_value_encoding, which is sent, too"}
# Members that the files describe and no call has an argument for.
UNSENT = {
    *(f"{name}.record_time_match" for name in ("AcsRequest", "AcsRequestV2", "HoldingsStateRequest")),
    *("HoldingsStateRequestV2.record_time_match", "Duration.unknownFields", "UpdateFormat.includeTopologyEvents"),
    *(f"ListVoteResultsRequest.{name}" for name in ("accepted", "actionName", "effectiveFrom", "effectiveTo")),
    "ListVoteResultsRequest.requester",
    # These are sent in another form: as a format, and not at all for a new user.
    *("GetTransactionByIdRequest.requestingParties", "ObjectMeta.resourceVersion"),
}


@pytest.fixture(scope="module")
def turns():
    """What goes over the wire with the releases that the sandbox has."""
    with start(seed=7, updates=80) as sandbox:
        found = conversation(sandbox)
        for options in ({"release": "0.9"}, {"release": "0.5"}):
            with sandbox.replica(**options) as release:
                found += short_conversation(release)
    return found


def test_every_endpoint_is_in_the_official_files_and_was_asked(turns):
    """With a server that does not have a route, too, so that alternatives are seen."""
    modules = [import_module(f"{interfaces.__name__}.{one.name}") for one in pkgutil.iter_modules(interfaces.__path__)]
    endpoints = [one for module in modules for one in vars(module).values() if isinstance(one, Endpoint)]
    missing = {
        (one.interface, one.method, one.path)
        for one in endpoints
        if operation(one.interface, one.method, one.path.replace("{", "").replace("}", "")) is None
    }
    assert missing == UNOFFICIAL.keys()
    asked = {(turn.interface, turn.endpoint) for turn in turns}
    assert {(one.interface, f"{one.method} {one.path}") for one in endpoints} <= asked


def test_every_request_has_the_parameters_that_the_files_name(turns):
    described, sent = set(), set()
    for turn in turns:
        found = turn.described
        if found is None:
            assert (turn.interface, turn.method, turn.path) in UNOFFICIAL
            continue
        named = found.query
        assert turn.query.keys() <= named.keys() | BESIDES.keys(), turn.endpoint
        described |= {f"{found.path}?{name}" for name in named}
        sent |= {f"{found.path}?{name}" for name in turn.query}
        assert {name for name, one in named.items() if one.get("required")} <= turn.query.keys(), turn.endpoint
        for name in turn.query.keys() & named.keys():
            schema, text = found.document.resolve(named[name]["schema"]), turn.query[name]
            value = json.loads(text) if schema.get("type") in {"integer", "boolean"} else text
            # Of a parameter that is repeated the last is known.
            assert found.document.faults(schema, [value] if schema.get("type") == "array" else value) == set()
    assert described - sent == {"/v2/updates/{update_id}?daml_value_encoding"}, "which goes to older releases alone"


def test_every_request_has_the_body_that_the_files_describe(turns):
    kinds, described, sent = set(), set(), set()
    for turn in (one for one in turns if one.described):
        found = turn.described
        assert bool(found.body) == bool(turn.sent), turn.endpoint
        assert turn.content_type in (found.body or {""}), turn.endpoint
        kinds.add(turn.content_type)
        if turn.content_type == "application/json":
            body = {name: one for name, one in json.loads(turn.sent).items() if name not in BESIDES}
            schema = found.body[turn.content_type]
            assert found.document.faults(schema, body) == set(), f"{turn.endpoint}: {turn.sent[:500]!r}"
            assert unknown(found.document, schema, body) == set(), f"{turn.endpoint}: {turn.sent[:500]!r}"
            for name, known, has in objects(found.document, schema, body):
                described |= {f"{name}.{one}" for one in known if name}
                sent |= {f"{name}.{one}" for one in has if name}
    assert kinds == {"application/json", "application/octet-stream", ""}
    assert described - sent == UNSENT


def objects(document, schema, value):
    """Of every object in a value: the name of its schema, the members that it may have, and those that it has."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = document.resolve(schema)
    if isinstance(value, list):
        for one in value:
            yield from objects(document, schema.get("items", {}), one)
    if isinstance(value, dict):
        known, any_name = document.members(schema), schema.get("additionalProperties")
        if known:
            yield name, known.keys(), value.keys()
        for member, one in value.items():
            below = known.get(member, any_name)
            yield from objects(document, below if isinstance(below, dict) else {}, one)


def unknown(document, schema, value):
    """Members of a value that its schema does not name; a server would ignore them without a word."""
    return {f"{name}.{one}" for name, known, has in objects(document, schema, value) for one in has - known}


def test_a_request_that_breaks_a_file_is_found():
    """The check itself can fail."""
    found = operation("ledger", "POST", "/v2/updates/update-by-id")
    schema = found.body["application/json"]
    assert found.document.faults(schema, {"updateId": "u"}) == {
        ("", "required", "'updateFormat' is a required property")
    }
    wrong = {"updateId": 7, "updateFormat": {"includeReassignments": {"verbose": "yes", "filters": 1}}}
    assert found.document.faults(schema, wrong) == {
        ("updateId", "type", "number"),
        ("updateFormat.includeReassignments.verbose", "type", "text"),
    }
    assert unknown(found.document, schema, wrong) == {"EventFormat.filters"}


#: How many answers of one path and status are looked at, the largest first.
ANSWERS = 4


@pytest.mark.long
def test_every_answer_is_as_the_official_files_say(turns):
    broken, seen = {}, Counter()
    for turn in sorted(turns, key=lambda one: -len(one.answer)):
        kind = turn.endpoint, turn.status, turn.answered_type
        seen[kind] += 1
        if turn.described and seen[kind] <= ANSWERS:
            answer = (turn.interface, turn.method, turn.path, turn.status, turn.answered_type, turn.answer)
            broken |= dict.fromkeys(unlike_real_servers(*answer), turn.endpoint)
    assert broken == {}


@pytest.mark.parametrize("capture", sorted({*SHARED.values()}))
def test_what_is_allowed_to_break_a_file_is_broken_by_a_real_server_too(captures, capture):
    assert captures
    asked = json.loads((CAPTURES / f"{capture}.json").read_text())["request"]
    real = read_capture(capture)
    content_type = real.content_type.partition(";")[0]
    body = real.reply.body if content_type == "application/json" else b""
    found = faults(asked["interface"], asked["method"], asked["path"], real.status, content_type, body)
    allowed = {what[1:] for what, name in SHARED.items() if name == capture}
    assert allowed <= {subject("", fault)[1:] for fault in found}


BODIES = {
    "no text": (b"\xff", "validator_operator"),
    "too deep": (b"[" * 100_000, "validator_operator"),
    "nothing in it": (b"{}", "alice"),
    "nobody": (b"null", "nobody"),
}
#: The routes of the file that no call sends anything to.
UNSERVED = ("dso-party-id", "amulet-rules", "transfer-command-counter/{party}", "transfer-command/status",
            "unclaimed-development-fund-coupons")  # fmt: skip


@pytest.fixture(scope="module", params=[{}, {"release": "0.7"}, {"hostile": True}], ids=["usual", "0.7", "hostile"])
def sandbox(request):
    with started(updates=200, **request.param) as running:
        yield running


def test_every_refusal_is_as_the_official_files_say_and_that_of_a_method_names_those_of_the_path(sandbox):
    broken = {}
    for served in CALLS:
        interface, method = served.endpoint.interface, served.endpoint.method
        path = re.sub(r"\{\w+\}", "x", served.endpoint.path)
        for body, user in BODIES.values():
            sent = body if method == "POST" else None
            answer = call(sandbox, interface, f"{path}?limit=0&pageSize=-1", sent, method=method, user=user)
            kind = answer.content_type.partition(";")[0]
            for fault in unlike_real_servers(interface, method, path, answer.status, kind, answer.body):
                broken[served.name] = (answer.status, fault)
        answer = ask(getattr(sandbox, f"{interface}_url") + path, method="PATCH")
        assert answer.status in (404, 405), served.name
        if answer.status == 405:
            assert method in answer.headers["Allow"].replace(" ", "").split(","), served.name
    assert broken == {}


def test_every_route_of_a_scan_proxy_answers_as_the_official_file_says_and_none_has_the_history(net):
    sandbox, world = net.sandbox, net.sandbox.world
    owner = max(world.contracts.of(NAME_ENTRY), key=lambda one: one.payload["expiresAt"]).payload["user"]
    receiver = world.contracts.of(PREAPPROVAL)[0].payload["receiver"]
    known = {"name": "dso.cns", "provider_party_id": world.contracts.of(FEATURED_RIGHT)[0].payload["provider"]}
    newest = {"migration_id": world.updates[-1].migration_id, "record_time": "9999-01-01T00:00:00Z"}
    holdings = {**newest, "record_time_match": "at_or_before", "owner_party_ids": [owner]}
    proxied = [one for one in operations("validator") if "/scan-proxy/" in one.path]
    served = [one for one in proxied if not one.path.endswith(UNSERVED)]
    assert len(served) > 5
    for one in served:
        path = one.path.format(**known, party=receiver if "preapprovals" in one.path else owner)
        query = "?page_size=10" if path == "/v0/scan-proxy/ans-entries" else ""
        body = holdings if "holdings" in path else {}

        answer = call(sandbox, "validator", path + query, body if one.method == "POST" else None)

        assert (answer.status, len(answer.body) > 60) == (200, True), path
        assert faults("validator", one.method, path, answer.status, answer.content_type, answer.body) == set(), path

    for path in ("updates", "events", "state/acs", "admin/validator/licenses", "history/bulk/updates"):
        answer = call(sandbox, "validator", f"/v0/scan-proxy/{path}", {})
        assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8"), path
