"""Instruments by their ids: one request each, or the whole list where a registry knows no single instrument."""

from decimal import Decimal

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from tests.asking import network, reply
from tests.hostile.instruments import invent_instruments
from tests.interfaces.served_answers import far
from tests.rigs.servers import started

LIST = "/registry/metadata/v1/instruments"
BROKEN = reply({"error": "broken"}, 500)
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {}}


@pytest.fixture(scope="module")
def net():
    world = generate(7, 50)
    world.instruments = invent_instruments()
    with started(world=world) as server, lf.connect(registry_url=server.registry_url) as net:
        yield net


def test_instruments_of_these_ids_are_rows_in_their_order_with_one_request_each_and_one_for_the_admin(net):
    whole = lf.load_instruments(net).set_index("instrument_id")
    before = net.stats.requests

    some = lf.load_instruments(net, ids=["TESSERA-FUND", "Amulet", "TESSERA-FUND"])

    assert net.stats.requests - before == 3
    assert list(some.instrument_id) == ["TESSERA-FUND", "Amulet"]
    assert some.set_index("instrument_id").equals(whole.loc[["TESSERA-FUND", "Amulet"]])
    assert some.attrs["complete"] is True


def test_an_unknown_id_is_named_with_what_lists_them_all(net):
    with pytest.raises(lf.errors.InputError, match=r"'amulet'; lf\.load_instruments\(net\) lists"):
        lf.load_instruments(net, ids=["Amulet", "amulet"])


def test_a_registry_that_only_lists_is_read_whole():
    page = {"instruments": [COIN, COIN | {"id": "Other"}], "nextPageToken": None}
    with far(instruments=reply(page)) as there:
        assert list(lf.load_instruments(there.net, ids=["Other"], limit=1).instrument_id) == ["Other"]
        with pytest.raises(lf.errors.InputError, match="'Third'"):
            lf.load_instruments(there.net, ids=["Other", "Third"])
    assert f"GET {LIST}" in there.routes


@pytest.mark.parametrize(
    ("route", "body", "words"),
    [
        ("Other", COIN, r"'Other' was requested, and the answer has the id \"Coin\""),
        *(("Other", body, "'Other'") for body in ({}, {"id": 5}, {"id": None})),
        *(("instruments", {"instruments": [one]}, "id|instruments") for one in (5, {"name": "x"}, {"id": 5})),
    ],
    ids=str,
)
def test_an_answer_that_does_not_tell_the_id_proves_nothing(route, body, words):
    with far(**{route: reply(body)}) as there, pytest.raises(lf.errors.DecodeError, match=words):
        lf.load_instruments(there.net, ids=["Other"])


def test_what_was_loaded_before_a_fault_is_kept_where_that_is_allowed():
    with far(Coin=reply(COIN), Other=BROKEN) as there:
        with pytest.raises(lf.errors.ServerError):
            lf.load_instruments(there.net, ids=["Coin", "Other"])
        part = lf.load_instruments(there.net, ids=["Coin", "Other"], allow_partial=True)
    assert list(part.instrument_id) == ["Coin"]
    assert part.attrs["complete"] is False


def test_an_incomplete_list_does_not_prove_that_an_id_is_missing():
    with far(instruments=reply({"instruments": [COIN], "nextPageToken": "t"})) as there:
        # The token repeats, so the list cannot be read to its end.
        with pytest.raises(lf.errors.PagingError):
            lf.load_instruments(there.net, ids=["Other"])
        part = lf.load_instruments(there.net, ids=["Other"], allow_partial=True)
    assert len(part) == 0
    assert part.attrs["complete"] is False


def test_the_registries_of_several_issuers_are_read_into_one_frame():
    page = {"instruments": [COIN, COIN | {"id": "Amulet", "totalSupply": "7.5"}], "nextPageToken": None}
    with lf.sandbox(updates=300) as ledger, far(instruments=reply(page)) as third:
        urls = [*ledger.sandbox.registry_urls.values(), *third.net.registry.servers]
        with lf.connect(registry_url=urls, decimals="exact") as net:
            rows = lf.load_instruments(net).replace({float("nan"): None})
            some = lf.load_instruments(net, ids=["HARBOR-SILVER", "Amulet"])
            first = lf.load_instruments(net, limit=2)
            with pytest.raises(lf.errors.InputError, match="no registry has an instrument 'Nowhere'"):
                lf.load_instruments(net, ids=["Amulet", "Nowhere"])
            told = [(url, one) for url in urls for one in net.registry.on(url).instruments().instruments]
            admins = [net.registry.on(url).info().admin_id for url in urls[:2]] + [None, None]

    assert list(zip(rows.source, rows.instrument_id, strict=True)) == [(url, one.id) for url, one in told]
    assert [None if one is None else Decimal(one) for one in rows.total_supply] == [
        Decimal(one.total_supply) if one.total_supply else None for _, one in told
    ]
    assert [*rows.instrument_admin] == admins
    assert rows.attrs["source"] == ", ".join(urls)
    assert [*some.instrument_id] == ["Amulet", "HARBOR-SILVER", "Amulet"]
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
