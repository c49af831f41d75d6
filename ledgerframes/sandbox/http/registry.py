"""The token-registry interface over a world: the instruments of one admin and the way to allocations, as routes."""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.token_standard import COIN_ID, SECOND_ID
from ledgerframes.sandbox.http.responses import INT32, RefusalError, found, malformed, page_token, read_page_token
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, units
from ledgerframes.sandbox.world.contracts import Contract, blob
from ledgerframes.sandbox.world.templates import COIN_RULES, TOKEN, TRANSFER_FACTORY
from ledgerframes.sandbox.world.world import World

INSTRUMENTS_PAGE: Final = 25
INSTRUMENTS_MAXIMUM: Final = 1_000
SUPPORTED_APIS: Final = {
    "splice-api-token-metadata-v1": 1,
    "splice-api-token-holding-v1": 1,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-instruction-v1": 1,
}

#: The routes about instruments alone, which every issuer's registry has.
METADATA: Final = Routes()


@METADATA.get("/registry/metadata/v1/info")
def info(request: ServerRequest) -> dict[str, Any]:
    """Who the admin is."""
    rules = found(request.world.rules.get(request.server.issuer), "This registry has no admin")
    return {"adminId": rules.signatories[0], "supportedApis": SUPPORTED_APIS}


@METADATA.get("/registry/metadata/v1/instruments")
def instruments(request: ServerRequest) -> dict[str, Any]:
    """A page of instruments."""
    size = request.integer("pageSize", bound=INT32)
    size = INSTRUMENTS_PAGE if size is None else min(size, INSTRUMENTS_MAXIMUM)
    if size < 1:
        raise RefusalError(400, f"pageSize must be positive, not {size}")
    try:
        after = read_page_token(request.query("pageToken"))
    except ValueError as error:
        raise RefusalError(400, "The query parameter 'pageToken' was malformed") from error
    # By id and not by number, so that a token stays valid while the list grows.
    left = [record for name, record in _listed(request).items() if name > after]
    token = page_token(left[size - 1]["id"]) if len(left) > size else None
    return {"instruments": left[:size], "nextPageToken": token}


@METADATA.get("/registry/metadata/v1/instruments/{instrumentId:path}")
def instrument(request: ServerRequest) -> dict[str, Any]:
    """An instrument."""
    return _instrument(request, request.part("instrumentId"))


ROUTES: Final = Routes(METADATA)


@ROUTES.post("/registry/allocation-instruction/v1/allocation-factory")
def allocation_factory(request: ServerRequest) -> dict[str, Any]:
    """The factory and the context that an allocation needs."""
    body = request.object()
    without_debug = body.get("excludeDebugFields", False)
    if not isinstance(without_debug, bool):
        raise malformed("excludeDebugFields must be a boolean")
    wanted = _instrument(request, _instrument_id(body))
    if wanted.get("paused"):
        raise RefusalError(409, f"Instrument {wanted['id']} is paused: {wanted['pauseInfo']['reason']}")
    return _factory(request.world, with_debug=not without_debug)


def _listed(request: ServerRequest) -> dict[str, dict[str, Any]]:
    """The registry's instruments by id; their supply is what all contracts are worth now, locked ones included."""
    # The contracts are in this ledger, so the supply is counted and cannot disagree with the history.
    world = request.world
    now = timestamps.exact(world.now)
    if request.server.issuer != COIN_RULES.entity:
        supply = decimal(sum(units(holding.payload["amount"]) for holding in world.contracts.of(TOKEN)))
        return {SECOND_ID: instrument_record(SECOND_ID, "Harbor silver", "HS", 2, supply=supply, as_of=now)}
    coin = instrument_record(COIN_ID, COIN_ID, "CC", 10, supply=decimal(world.coins.units), as_of=now)
    return dict(sorted({**world.instruments, COIN_ID: coin}.items()))


def _instrument(request: ServerRequest, instrument_id: str) -> dict[str, Any]:
    return found(_listed(request).get(instrument_id), f"Instrument {instrument_id} not found")


def _factory(world: World, *, with_debug: bool) -> dict[str, Any]:
    if not world.rounds or TRANSFER_FACTORY.entity not in world.rules:
        raise RefusalError(404, "This registry has no allocation factory")
    factory, coin_rules = world.rules[TRANSFER_FACTORY.entity], world.rules[COIN_RULES.entity]
    open_round = world.rounds[0]
    context = {
        "amulet-rules": {"tag": "AV_ContractId", "value": coin_rules.contract_id},
        "open-round": {"tag": "AV_ContractId", "value": open_round.contract_id},
    }
    disclosed = [_disclosed(contract, with_debug=with_debug) for contract in (factory, coin_rules, open_round)]
    choice_context = {"choiceContextData": {"values": context}, "disclosedContracts": disclosed}
    return {"factoryId": factory.contract_id, "choiceContext": choice_context}


def _disclosed(contract: Contract, *, with_debug: bool) -> dict[str, Any]:
    if contract.synchronizer_id is None:
        # The contract names this status for a disclosed contract that is in flight.
        raise RefusalError(409, f"Contract {contract.contract_id} is in the middle of a reassignment; ask again")
    members = {
        "templateId": contract.template_id,
        "contractId": contract.contract_id,
        "createdEventBlob": blob(contract.contract_id),
        "synchronizerId": contract.synchronizer_id,
    }
    if not with_debug:
        return members
    return {
        **members,
        "debugPackageName": contract.template.package_name,
        "debugPayload": contract.payload,
        "debugCreatedAt": contract.created_at,
    }


def _instrument_id(body: dict[str, Any]) -> str:
    """Which instrument the choice arguments are about."""
    _expect_empty(body)
    place: Any = body["choiceArguments"]
    for name in ("allocation", "transferLeg", "instrumentId", "id"):
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, str):
        raise RefusalError(400, "choiceArguments.allocation.transferLeg.instrumentId.id is missing")
    return place


def _expect_empty(body: dict[str, Any]) -> None:
    """Check that the extra arguments are there and empty, as the contract wants them; `{"values": {}}` is empty too."""
    arguments = body.get("choiceArguments")
    if not isinstance(arguments, dict):
        raise RefusalError(400, "choiceArguments is missing or not an object")
    extra = arguments.get("extraArgs")
    for name in ("context", "meta"):
        value = extra.get(name) if isinstance(extra, dict) else None
        if value not in ({}, {"values": {}}):
            raise RefusalError(400, f"choiceArguments.extraArgs.{name} must be an empty object")


def instrument_record(
    instrument_id: str, name: str, symbol: str, decimals: int, *, supply: str | None, as_of: str | None
) -> dict[str, Any]:
    """An instrument as a registry sends it.

    Args:
        instrument_id: its id.
        name: for display.
        symbol: for display.
        decimals: its decimal places.
        supply: total supply as decimal text; None if nobody has counted it.
        as_of: when it was counted.
    """
    return {
        "id": instrument_id,
        "name": name,
        "symbol": symbol,
        "totalSupply": supply,
        "totalSupplyAsOf": as_of,
        "decimals": decimals,
        "supportedApis": SUPPORTED_APIS,
        "paused": False,
    }
