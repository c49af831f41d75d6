"""Every request that the client sends is valid against the official interface files."""

import json
import pkgutil
from importlib import import_module

import pytest

from ledgerframes import interfaces
from ledgerframes.transport import Endpoint
from tests.official.interface_files import operation

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")

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
