"""Instruments by their ids: one request each, or the whole list where a registry knows no single instrument."""

from contextlib import contextmanager
from decimal import Decimal
from random import Random

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.generator.generate import generate
from tests.asking import network
from tests.hostile.instruments import invent_instruments
from tests.rigs.servers import started
from tests.transport.hostile_server import HostileServer, answer, text

LIST = "/registry/metadata/v1/instruments"
INFO = "/registry/metadata/v1/info"
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {}}


@pytest.fixture(scope="module")
def net():
    world = generate(7, 50)
    world.instruments = invent_instruments(Random(7))
    with started(world=world) as server, lf.connect(registry_url=server.registry_url) as net:
        yield net


@contextmanager
def registry(answers):
    """A network of a registry that answers these paths, and every other one in plain text with 404; with its log."""
    asked = []

    def by(heard):
        asked.append(heard.path)
        if heard.path not in answers:
            return text("The requested resource could not be found.", 404)
        status, body = answers[heard.path]
        return answer(body, status)

    with (
        HostileServer(by) as server,
        network(registry_url=(server.url,), attempts=2) as net,
    ):
        yield net, asked


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
    with registry({LIST: (200, page)}) as (net, asked):
        assert list(lf.load_instruments(net, ids=["Other"], limit=1).instrument_id) == ["Other"]
        with pytest.raises(lf.errors.InputError, match="'Third'"):
            lf.load_instruments(net, ids=["Other", "Third"])
    assert LIST in asked


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (f"{LIST}/Other", COIN, r"'Other' was requested, and the answer has the id \"Coin\""),
        *((f"{LIST}/Other", body, "'Other'") for body in ({}, {"id": 5}, {"id": None})),
        *((LIST, {"instruments": [one]}, "id|instruments") for one in (5, {"name": "x"}, {"id": 5})),
    ],
    ids=str,
)
def test_an_answer_that_does_not_tell_the_id_proves_nothing(path, body, words):
    with registry({path: (200, body)}) as (net, _), pytest.raises(lf.errors.DecodeError, match=words):
        lf.load_instruments(net, ids=["Other"])


def test_what_was_loaded_before_a_fault_is_kept_where_that_is_allowed():
    answers = {f"{LIST}/Coin": (200, COIN), f"{LIST}/Other": (500, {"error": "broken"})}
    with registry(answers) as (net, _):
        with pytest.raises(lf.errors.ServerError):
            lf.load_instruments(net, ids=["Coin", "Other"])
        part = lf.load_instruments(net, ids=["Coin", "Other"], allow_partial=True)
    assert list(part.instrument_id) == ["Coin"]
    assert part.attrs["complete"] is False


def test_an_incomplete_list_does_not_prove_that_an_id_is_missing():
    answers = {LIST: (200, {"instruments": [COIN], "nextPageToken": "t"})}
    with registry(answers) as (net, _):
        # The token repeats, so the list cannot be read to its end.
        with pytest.raises(lf.errors.PagingError):
            lf.load_instruments(net, ids=["Other"])
        part = lf.load_instruments(net, ids=["Other"], allow_partial=True)
    assert len(part) == 0
    assert part.attrs["complete"] is False


def test_the_registries_of_several_issuers_are_read_into_one_frame():
    page = {"instruments": [COIN, COIN | {"id": "Amulet", "totalSupply": "7.5"}], "nextPageToken": None}
    with lf.sandbox(updates=300) as ledger, registry({LIST: (200, page)}) as (third, _):
        urls = [*ledger.sandbox.registry_urls.values(), third.registry.servers[0]]
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
    with lf.sandbox(updates=50) as ledger, registry({LIST: (500, {"error": "broken"})}) as (broken, _):
        urls = [broken.registry.servers[0], *ledger.sandbox.registry_urls.values()]
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
    answers = {INFO: (200, {"adminId": "a::1", "supportedApis": {}}), LIST: (200, {"instruments": [COIN]})}
    with registry(answers) as (one, _), registry(answers) as (other, asked):
        with lf.connect(registry_url=[one.registry.servers[0], other.registry.servers[0]]) as net:
            rows = lf.load_instruments(net)
        assert asked == [INFO]
    assert [*rows.instrument_admin] == ["a::1"]
