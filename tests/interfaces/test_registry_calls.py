"""What the registry calls send, refuse and read."""

from decimal import Decimal

import pytest
from served_answers import body_of, far, nowhere, reply

from ledgerframes.errors import DecodeError, NotFoundError
from ledgerframes.interfaces.registry import PauseInfo, Registry, RegistryInfo

ARGUMENTS = {
    "expectedAdmin": "admin::1",
    "allocation": {"amount": Decimal("1.50"), "inputHoldingCids": ["00ab"]},
    "extraArgs": {"context": {}, "meta": {}},
}
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {"metadata-v1": 1}}
DISCLOSED = {"templateId": "p:M:T", "contractId": "00ab", "createdEventBlob": "blob", "synchronizerId": "da1::12"}


def test_every_member_of_an_instrument_is_read():
    full = COIN | {
        "decimals": 0, "totalSupply": "10.0000000000", "totalSupplyAsOf": "2026-01-01T00:00:00Z", "paused": True,
        "pauseInfo": {"reason": "upgrade", "until": None}, "showAccountInputFields": False,
        "accountInputFieldsToShow": ["memo", {"name": "x"}], "unknown": 1,
    }  # fmt: skip
    with far(instruments=reply({"instruments": [full]})) as there:
        (one,) = there.registry.instruments(page_size=3, page_token="a b").instruments
    assert there.asked[0].target.endswith("/registry/metadata/v1/instruments?pageSize=3&pageToken=a%20b")
    assert (one.decimals, one.total_supply, one.total_supply_as_of) == (0, "10.0000000000", "2026-01-01T00:00:00Z")
    assert (one.paused, one.pause_info) == (True, PauseInfo("upgrade", None))
    assert (one.show_account_input_fields, one.account_input_fields_to_show) == (False, ["memo", {"name": "x"}])


@pytest.mark.parametrize("decimals", [-1, 11])
def test_decimals_beyond_the_contracts_range_are_reported(decimals):
    with (
        far(instruments=reply({"instruments": [COIN | {"decimals": decimals}]})) as there,
        pytest.raises(DecodeError, match=r"\$\.instruments\[0\]\.decimals"),
    ):
        there.registry.instruments()


def test_the_factory_and_its_context_are_read():
    context = {
        "choiceContextData": {"values": {"k": {"tag": "AV_Int", "value": 1}}},
        "disclosedContracts": [DISCLOSED, DISCLOSED | {"debugPackageName": "p", "debugPayload": {"a": 1}, "x": 0}],
    }
    with far(allocation_factory=reply({"factoryId": "00cd", "choiceContext": context})) as there:
        factory = there.registry.allocation_factory(ARGUMENTS)
    bare, debug = factory.choice_context.disclosed_contracts

    assert factory.factory_id == "00cd"
    assert factory.choice_context.choice_context_data == context["choiceContextData"]
    assert (bare.contract_id, bare.debug_payload) == ("00ab", None)
    assert (debug.debug_package_name, debug.debug_payload, debug.debug_created_at) == ("p", {"a": 1}, None)
    assert there.routes == ["POST /registry/allocation-instruction/v1/allocation-factory"]


@pytest.mark.parametrize(("exclude", "written"), [(False, {}), (True, {"excludeDebugFields": True})])
def test_the_arguments_go_out_with_exact_amounts(exclude, written):
    sent = body_of(Registry(nowhere()), "allocation_factory", ARGUMENTS, exclude_debug_fields=exclude)
    assert sent == written | {
        "choiceArguments": ARGUMENTS | {"allocation": {"amount": "1.50", "inputHoldingCids": ["00ab"]}}
    }


def test_the_admin_and_the_interfaces_of_a_registry_are_read():
    told = {"adminId": "admin::1220", "supportedApis": {"splice-api-token-metadata-v1": 1}, "unknown": [1]}
    with far(info=reply(told)) as there:
        info = there.registry.info()
    assert info == RegistryInfo("admin::1220", {"splice-api-token-metadata-v1": 1})
    assert there.routes == ["GET /registry/metadata/v1/info"]


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"supportedApis": {}}, "adminId"),
        ({"adminId": "a::1220", "supportedApis": {"x": "1"}}, r"\$\.supportedApis"),
    ],
)
def test_a_registry_that_breaks_its_own_description_is_reported(told, place):
    with far(info=reply(told)) as there, pytest.raises(DecodeError, match=place):
        there.registry.info()


def test_a_single_instrument_is_read_by_its_encoded_id_and_is_none_where_the_admin_has_none():
    absent = reply({"error": "no such instrument"}, 404)
    with far(**{"A%2FB%20%C3%A4": reply(COIN | {"id": "A/B ä"})}, Coin=absent) as there:
        assert there.registry.instrument("A/B ä").id == "A/B ä"
        assert there.registry.instrument("Coin") is there.registry.raw.instrument("Coin") is None
    assert there.routes[0] == "GET /registry/metadata/v1/instruments/A%2FB%20%C3%A4"
    with far() as there, pytest.raises(NotFoundError) as caught:
        there.registry.instrument("Coin")
    assert caught.value.unknown_route
