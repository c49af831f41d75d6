"""What the registry calls send, refuse and read."""

import pytest
from served_answers import far, reply

from ledgerframes.errors import DecodeError, NotFoundError

COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {"metadata-v1": 1}}


@pytest.mark.parametrize("decimals", [-1, 11])
def test_decimals_beyond_the_contracts_range_are_reported(decimals):
    with (
        far(instruments=reply({"instruments": [COIN | {"decimals": decimals}]})) as there,
        pytest.raises(DecodeError, match=r"\$\.instruments\[0\]\.decimals"),
    ):
        there.net.registry.instruments()


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"supportedApis": {}}, "adminId"),
        ({"adminId": "a::1220", "supportedApis": {"x": "1"}}, r"\$\.supportedApis"),
    ],
)
def test_a_registry_that_breaks_its_own_description_is_reported(told, place):
    with far(info=reply(told)) as there, pytest.raises(DecodeError, match=place):
        there.net.registry.info()


def test_a_single_instrument_is_read_by_its_encoded_id_and_is_none_where_the_admin_has_none():
    absent = reply({"error": "no such instrument"}, 404)
    with far(**{"A%2FB%20%C3%A4": reply(COIN | {"id": "A/B ä"})}, Coin=absent) as there:
        assert there.net.registry.instrument("A/B ä").id == "A/B ä"
        assert there.net.registry.instrument("Coin") is there.net.registry.raw.instrument("Coin") is None
    assert there.routes[0] == "GET /registry/metadata/v1/instruments/A%2FB%20%C3%A4"
    with far() as there, pytest.raises(NotFoundError) as caught:
        there.net.registry.instrument("Coin")
    assert caught.value.unknown_route
