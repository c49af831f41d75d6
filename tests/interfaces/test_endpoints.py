"""The list of the contract's endpoints is whole and true."""

import inspect
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.calls import calls_of, declared_call
from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS, with_endpoints
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.tables.catalogue import CATALOGUE
from tests.sandbox.asking import ask

ROOT = Path(__file__).resolve().parents[2]
EVERY = (*CALLS, *NEIGHBOURS)
#: Calls that no sandbox answers: it keeps no completions.
NOT_SIMULATED = {"ledger.completion_by_hash"}
MOVE = lf.commands.UnassignCommand(contract_id="00", source="a::1", target="b::1")
#: A value of every argument that a call needs.
ARGUMENTS = {
    **dict.fromkeys(("record_time", "before", "after", "at"), "2026-01-01"),
    **dict.fromkeys(("submitter", "party", "provider"), "alice::1"),
    **dict.fromkeys(("act_as", "owner_party_ids", "owners", "validators"), ("alice::1",)),
    **dict.fromkeys(("update_id", "hash", "command_id", "name", "instrument_id"), "ab"),
    "up_to": "2026-01-02",
    "migration_id": 0,
    "synchronizer": "global::1",
    "member": "PAR::alice::1",
    "requests": ["00"],
    "choice_arguments": {"extraArgs": {"context": {}, "meta": {}}},
    "user": lf.commands.User(id="alice"),
    "dar": b"PK",
    "commands": [lf.commands.CreateCommand(template_id="#package:Module:Entity", create_arguments={})],
}
OTHER_FORMS = {
    "POST /v1/scan-proxy/holdings/summary",
    *("POST /v1/state/acs", "POST /v0/state/acs"),
    *("POST /v1/holdings/state", "POST /v0/holdings/state"),
    "POST /v1/holdings/summary",
    "any",
}


def test_every_endpoint_is_listed_once():
    assert len({served.name for served in CALLS}) == 20
    assert len({served.name for served in EVERY}) == len(EVERY)


def test_every_call_of_an_interface_is_listed():
    listed = {
        f"{interface.interface}.{name}"
        for interface in (Scan, Validator, Registry, Ledger)
        for name in calls_of(interface)
    } - {"scan.call"}  # which asks any route
    assert listed == {served.call for served in EVERY}


def test_every_call_asks_the_endpoint_that_it_is_listed_with(net):
    for served in EVERY:
        interface, _, name = served.call.partition(".")
        make = declared_call(getattr(net, interface), name)
        needed = [name for name, each in inspect.signature(make).parameters.items() if each.default is each.empty]
        given = ARGUMENTS | ({"commands": [MOVE]} if "reassignment" in name else {})
        call = make(**{name: given[name] for name in needed})
        assert call.request.endpoint == served.endpoint, served.call


def test_the_sandbox_serves_every_one(net):
    sandbox = net.sandbox
    token = sandbox.token("validator_operator")
    for served in EVERY:
        url = getattr(sandbox, f"{served.endpoint.interface}_url")
        path = served.endpoint.path.replace("{", "").replace("}", "")
        body = {} if served.endpoint.method == "POST" else None
        answer = ask(url + path, body, method=served.endpoint.method, token=token)
        unknown = answer.status in {404, 405} and not (answer.content_type or "").startswith("application/json")
        assert unknown == (served.call in NOT_SIMULATED), f"{served.call}: {answer.status} {answer.body[:80]}"
        assert answer.status < 500, f"{served.call}: {answer.body}"


def test_every_table_names_endpoints_of_the_list_or_other_forms_of_them():
    known = {served.name for served in EVERY} | OTHER_FORMS
    for table in CATALOGUE.values():
        assert set(table.endpoints) <= known, table.name


def test_the_table_of_endpoints_is_up_to_date():
    text = (ROOT / "docs" / "reference" / "endpoints.md").read_text(encoding="utf-8")
    assert with_endpoints(text) == text, "docs/reference/endpoints.md is stale; run: make docs"
    with pytest.raises(lf.errors.InputError, match="marks"):
        with_endpoints("# a document")
