"""The list of the contract's endpoints is whole and true."""

from docs.endpoints import CALLS, NEIGHBOURS, PAGE, page
from ledgerframes.interfaces.calls import calls_of, declared_call
from ledgerframes.interfaces.ledger import Ledger
from ledgerframes.interfaces.registry import Registry
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.validator import Validator
from ledgerframes.tables.catalogue import CATALOGUE
from tests.official.typed_calls import needed
from tests.sandbox.asking import ask

EVERY = (*CALLS, *NEIGHBOURS)
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
        call = declared_call(getattr(net, interface), name)(**needed(served))
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
        assert not unknown, f"{served.call}: {answer.status} {answer.body[:80]}"
        assert answer.status < 500, f"{served.call}: {answer.body}"


def test_every_table_names_endpoints_of_the_list_or_other_forms_of_them():
    known = {served.name for served in EVERY} | OTHER_FORMS
    for table in CATALOGUE.values():
        assert set(table.endpoints) <= known, table.name


def test_the_table_of_endpoints_is_up_to_date():
    assert page() == PAGE.read_text(encoding="utf-8"), "docs/reference/endpoints.md is stale; run: make docs"
