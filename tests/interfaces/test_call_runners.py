"""`net.scan.preview` and `net.scan.raw` run the methods of `net.scan` in other ways, and `net.scan.call` any route."""

import inspect
from decimal import Decimal

import pytest

import ledgerframes as lf
from docs.endpoints import CALLS, NEIGHBOURS
from ledgerframes.transport import Stop
from tests.asking import asking, network
from tests.interfaces.served_answers import far, reply
from tests.transport.hostile_server import HostileServer, Reply, answer


def test_a_preview_is_the_request_unsent_and_raw_the_body_that_the_call_decodes(net):
    before = net.stats.requests

    seen = net.scan.preview.updates(page_size=10)

    assert (seen.method, seen.body) == ("POST", b'{"page_size":10}')
    with pytest.raises(lf.errors.InputError, match="page_size=0"):
        net.scan.preview.updates(page_size=0)
    with pytest.raises(TypeError, match="pagesize"):
        net.scan.preview.updates(pagesize=3)
    for name in ("no_such_call", "_sender"):
        with pytest.raises(AttributeError, match="not a call of scan"):
            getattr(net.scan.preview, name)
    for runner in (net.scan.preview, net.scan.raw):
        with pytest.raises(lf.errors.InputError, match=r"net\.scan\.(preview|raw)\.updates\("):
            runner("updates")
    assert net.stats.requests == before
    raw = net.scan.raw.updates(page_size=10).value
    assert raw == net.scan.updates(page_size=10).raw


@pytest.mark.parametrize("interface", ["scan", "registry"])
def test_a_preview_is_of_the_server_that_is_asked(interface):
    first, second = "https://one.example", "https://two.example"
    with lf.connect(**{f"{interface}_url": [first, second]}) as net:
        calls = getattr(net, interface).on(second)
        seen = calls.preview.updates() if interface == "scan" else calls.preview.instruments()

    assert seen.url.startswith(f"{second}/")


def test_every_call_has_the_same_signature_whichever_way_it_runs(net):
    for served in (*CALLS, *NEIGHBOURS):
        interface, _, name = served.call.partition(".")
        calls = getattr(net, interface)
        signatures = [inspect.signature(getattr(way, name)) for way in (calls, calls.preview, calls.raw)]

        assert signatures[0] == signatures[1] == signatures[2], served.call
        assert "self" not in signatures[0].parameters, served.call
        words, described, arguments = getattr(calls, name).__doc__.partition("Args:\n")
        assert words, served.call
        assert not described or all(f"    {one}: " in arguments for one in signatures[0].parameters), served.call


def test_a_deprecated_route_warns_those_who_call_it_and_nobody_else(net):
    parties, update_id = lf.load_licenses(net, limit=2).validator, lf.load_updates(net).update_id[0]
    lf.load_holdings_summary(net, parties)
    lf.load_update(net, update_id)

    asked = {"record_time": "2999-01-01", "migration_id": 2, "record_time_match": "at_or_before"}
    for interface in (net.validator, net.scan):
        with pytest.warns(FutureWarning, match="/v1/.*holdings/summary replaces it") as caught:
            interface.holdings_summary(owner_party_ids=list(parties), **asked)
        assert caught[0].filename == __file__


def test_a_deprecated_route_that_stands_in_for_another_one_does_not_warn():
    transaction = {"transaction": {"updateId": "u", "events": []}}
    with far(transaction_by_id=reply(transaction)) as there:
        assert there.net.ledger.update_by_id("u").item.update_id == "u"
        assert there.routes == ["POST /v2/updates/update-by-id", "POST /v2/updates/transaction-by-id"]
        with pytest.warns(FutureWarning, match="transaction-by-id"):
            there.net.ledger.transaction_by_id("u")


def test_any_route_of_the_sandbox_answers_parsed_json(net):
    licenses = net.scan.call("GET", "/v0/admin/validator/licenses", params={"limit": 2, "after": None})
    page = net.scan.call("POST", "/v2/updates", json={"page_size": 3})

    assert 0 < len(licenses["validator_licenses"]) <= 2
    wanted = [one.update_id for one in net.sandbox.world.updates[:3]]
    assert [item["update_id"] for item in page["transactions"]] == wanted
    assert net.scan.preview.call("GET", "/v0/dso").url == f"{net.sandbox.scan_url}/v0/dso", "seen before it is sent"
    with pytest.raises(lf.errors.NotFoundError, match="GET /v0/nonesuch"):
        net.scan.call("GET", "/v0/nonesuch")


def test_numbers_are_exact_raw_bodies_as_they_came_and_what_is_no_json_is_an_error():
    body = b'{"a": 0.1000000000000000000001, "b": 1.50}'
    with HostileServer([Reply(body=body)]) as server, asking(server) as net:
        assert net.scan.call("GET", "/v0/x") == {"a": Decimal("0.1000000000000000000001"), "b": Decimal("1.5")}
        assert net.scan.raw.call("GET", "/v0/x").value == body
    refused = pytest.raises(lf.errors.DecodeError)
    with HostileServer([Reply(body=b"[1,")]) as server, asking(server, attempts=2) as net, refused:
        net.scan.call("GET", "/v0/x")


def test_a_path_and_a_query_are_percent_encoded_and_lists_repeat_a_name():
    with HostileServer([answer({})]) as server, asking(server) as net:
        net.scan.call("GET", "/v0/acs/alice::12 20", params={"validator_ids": ["a::1", "b&c"], "all": True, "n": 5})
        net.scan.call("GET", "/v0/x%2Fy")

    assert [heard.target for heard in server.heard] == [
        "/api/scan/v0/acs/alice%3A%3A12%2020?validator_ids=a%3A%3A1&validator_ids=b%26c&all=true&n=5",
        "/api/scan/v0/x%2Fy",
    ]


def test_one_server_of_several_can_be_asked_also_by_a_part_that_can_be_stopped():
    with HostileServer([answer(1)]) as first, HostileServer([answer(2)]) as second:
        urls = tuple(f"{server.url}/api/scan" for server in (first, second))
        with network(scan_url=urls) as net:
            chosen = net.scan.on(urls[1])

            assert chosen.call("GET", "/v0/x") == 2
            assert chosen.raw.call("GET", "/v0/x").value == b"2"
            assert chosen.stoppable(Stop()).call("GET", "/v0/x") == 2
            assert chosen.servers == urls[1:]
            assert net.scan.servers == urls
            assert net.scan.call("GET", "/v0/x") == 1


@pytest.mark.parametrize(
    ("path", "options", "reason"),
    {
        "a method that changes something": ("/v0/x", {"method": "DELETE"}, "give 'GET' or 'POST'"),
        "no path": ("", {}, "give the path"),
        "a whole URL": ("https://elsewhere.example/v0/x", {}, "give the path"),
        "another host": ("//elsewhere.example/v0/x", {}, "give the path"),
        "a step up in disguise": ("/v0/%2E%2e/x", {}, "without steps"),
        "a query": ("/v0/x?a=1", {}, "params="),
        "half an escape": ("/v0/x%2", {}, "%25"),
        "no Unicode": ("/v0/\ud800", {}, "Unicode"),
        "a body of a GET": ("/v0/x", {"json": {}}, "no place in a GET"),
        "no number": ("/v0/x", {"method": "POST", "json": {"a": float("nan")}}, "no such number"),
        "a name that is no text": ("/v0/x", {"params": {5: "x"}}, "give a dict"),
        "an object": ("/v0/x", {"params": {"x": {}}}, r"params\['x'\]"),
        "a list of numbers": ("/v0/x", {"params": {"x": [1]}}, r"params\['x'\]"),
    }.values(),
    ids=str,
)
def test_what_breaks_a_rule_is_refused_unsent(net, path, options, reason):
    before = net.stats.requests
    with pytest.raises(lf.errors.InputError, match=reason):
        net.scan.call(**{"method": "GET", "path": path} | options)
    assert net.stats.requests == before
