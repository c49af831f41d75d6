"""`net.scan.preview` and `net.scan.raw` have the methods of `net.scan`, run without sending or without decoding."""

from __future__ import annotations

import inspect

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.catalogue import CALLS, NEIGHBOURS
from tests.interfaces.served_answers import far, reply


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=60) as network:
        yield network


def test_a_preview_is_the_request_unsent_and_raw_the_body_that_the_call_decodes(net):
    before = net.stats.requests

    seen = net.scan.preview.updates(page_size=10)

    assert seen == net.scan.preview("updates", page_size=10)
    assert (seen.method, seen.body) == ("POST", b'{"page_size":10}')
    with pytest.raises(lf.errors.InputError, match="page_size=0"):
        net.scan.preview.updates(page_size=0)
    with pytest.raises(TypeError, match="pagesize"):
        net.scan.preview.updates(pagesize=3)
    for name in ("no_such_call", "_sender"):
        with pytest.raises(lf.errors.InputError, match="not a call of scan"):
            net.scan.preview(name)
    assert net.stats.requests == before
    raw = net.scan.raw.updates(page_size=10).value
    assert raw == net.scan.updates(page_size=10).raw == net.scan.raw("updates", page_size=10).value


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
        assert getattr(calls, name).__doc__, served.call


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
