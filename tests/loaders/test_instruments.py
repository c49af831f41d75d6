"""Instruments of one registry and of several: each issuer has its own."""

from decimal import Decimal

import pytest

import ledgerframes as lf
from tests.asking import network, reply
from tests.interfaces.served_answers import far

BROKEN = reply({"error": "broken"}, 500)
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {}}


def test_the_registries_of_several_issuers_are_read_into_one_frame():
    page = {"instruments": [COIN, COIN | {"id": "Amulet", "totalSupply": "7.5"}], "nextPageToken": None}
    with lf.sandbox(updates=300) as ledger, far(instruments=reply(page)) as third:
        urls = [*ledger.sandbox.registry_urls.values(), *third.net.registry.servers]
        with lf.connect(registry_url=urls, decimals="exact") as net:
            rows = lf.load_instruments(net).replace({float("nan"): None})
            first = lf.load_instruments(net, limit=2)
            told = [(url, one) for url in urls for one in net.registry.on(url).instruments().instruments]
            admins = [net.registry.on(url).info().admin_id for url in urls[:2]] + [None, None]

    assert list(zip(rows.source, rows.instrument_id, strict=True)) == [(url, one.id) for url, one in told]
    assert [None if one is None else Decimal(one) for one in rows.total_supply] == [
        Decimal(one.total_supply) if one.total_supply else None for _, one in told
    ]
    assert [*rows.instrument_admin] == admins
    assert rows.attrs["source"] == ", ".join(urls)
    assert [*first.source] == urls[:2]


def test_one_registry_that_fails_is_an_error_or_makes_the_result_incomplete():
    with lf.sandbox(updates=50) as ledger, far(instruments=BROKEN) as broken:
        urls = [*broken.net.registry.servers, *ledger.sandbox.registry_urls.values()]
        with network(registry_url=tuple(urls), attempts=2) as net:
            with pytest.raises(lf.errors.ServerError, match=urls[0]):
                lf.load_instruments(net)
            part = lf.load_instruments(net, allow_partial=True)
            # What another issuer's registry says is no answer of this one's.
            with pytest.raises(lf.errors.ServerError, match=urls[0]):
                net.registry.instruments()
            assert net.registry.on(urls[1]).instruments().instruments[0].id == "Amulet"
    assert [*part.source] == urls[1:]
    assert part.attrs["complete"] is False
    assert part.attrs["source"] == ", ".join(urls[1:])


def test_a_registry_that_cannot_be_reached_is_not_replaced_by_another_issuers():
    with (
        network(registry_url=("http://127.0.0.1:9",), attempts=1) as net,
        pytest.raises(lf.errors.NoAnswerError, match=r"check registry_url= and the network\.($|\n| )"),
    ):
        lf.load_instruments(net)


def test_a_token_for_one_registry_does_not_go_to_another_issuers():
    with pytest.raises(lf.errors.ConfigurationError, match="several issuers"):
        lf.connect(registry_url=["https://one.example.com", "https://two.example.com"], registry_token="secret-text")


def test_one_admin_under_two_addresses_is_read_once():
    answers = {"info": reply({"adminId": "a::1", "supportedApis": {}}), "instruments": reply({"instruments": [COIN]})}
    with far(**answers) as one, far(**answers) as other:
        with lf.connect(registry_url=[*one.net.registry.servers, *other.net.registry.servers]) as net:
            rows = lf.load_instruments(net)
        assert other.routes == ["GET /registry/metadata/v1/info"]
    assert [*rows.instrument_admin] == ["a::1"]
