"""The token-registry interface over a world: the instruments of one admin and the way to allocations, as routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.responses import (
    INT32,
    RefusalError,
    encode,
    json_answer,
    page_token,
    query_integer,
    read_object,
    read_page_token,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, units
from ledgerframes.sandbox.world.contracts import Contract, blob
from ledgerframes.sandbox.world.instruments import COIN_ID, SECOND, SUPPORTED_APIS, Instrument
from ledgerframes.sandbox.world.templates import COIN_RULES, TOKEN, TRANSFER_FACTORY
from ledgerframes.sandbox.world.world import World

INSTRUMENTS_PAGE: Final = 25
INSTRUMENTS_MAXIMUM: Final = 1_000


@dataclass(frozen=True, slots=True)
class Registry:
    """The handlers of one registry; no token is required.

    Attributes:
        rules: the entity of the rules whose signatory is its admin: the coin's, or another issuer's.
    """

    world: World
    rules: str = COIN_RULES.entity

    def routes(self) -> list[BaseRoute]:
        """The routes; the interface is served at the root."""
        allocation = "/registry/allocation-instruction/v1/allocation-factory"
        return [*self.metadata(), Route(allocation, self.allocation_factory, methods=["POST"])]

    def metadata(self) -> list[BaseRoute]:
        """The routes about instruments alone, which every issuer's registry has."""
        return [
            Route("/registry/metadata/v1/info", self.info, methods=["GET"]),
            Route("/registry/metadata/v1/instruments", self.instruments, methods=["GET"]),
            Route("/registry/metadata/v1/instruments/{instrumentId:path}", self.instrument, methods=["GET"]),
        ]

    async def info(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /registry/metadata/v1/info."""
        with self.world.lock:
            rules = self.world.rules.get(self.rules)
        if rules is None:
            raise RefusalError(404, "This registry has no admin")
        return json_answer(encode({"adminId": rules.signatories[0], "supportedApis": SUPPORTED_APIS}))

    async def instrument(self, request: Request) -> Response:
        """GET /registry/metadata/v1/instruments/{instrumentId}."""
        instrument = self._instrument(request.path_params["instrumentId"])
        with self.world.lock:
            record = self._record(instrument)
        return json_answer(encode(record))

    async def instruments(self, request: Request) -> Response:
        """GET /registry/metadata/v1/instruments."""
        size = query_integer(request, "pageSize", bound=INT32)
        size = INSTRUMENTS_PAGE if size is None else min(size, INSTRUMENTS_MAXIMUM)
        if size < 1:
            raise RefusalError(400, f"pageSize must be positive, not {size}")
        try:
            after = read_page_token(request.query_params.get("pageToken", ""))
        except ValueError as error:
            raise RefusalError(400, "The query parameter 'pageToken' was malformed") from error
        # By id and not by number, so that a token stays valid while the list grows.
        left = [instrument for instrument in self._listed() if instrument.id > after]
        with self.world.lock:
            records = [self._record(instrument) for instrument in left[:size]]
        token = page_token(left[size - 1].id) if len(left) > size else None
        return json_answer(encode({"instruments": records, "nextPageToken": token}))

    async def allocation_factory(self, request: Request) -> Response:
        """POST /registry/allocation-instruction/v1/allocation-factory."""
        body = await read_object(request)
        without_debug = body.get("excludeDebugFields", False)
        if not isinstance(without_debug, bool):
            raise RefusalError(400, "The request content was malformed: excludeDebugFields must be a boolean")
        instrument = self._instrument(_instrument_id(body))
        if instrument.pause is not None:
            raise RefusalError(409, f"Instrument {instrument.id} is paused: {instrument.pause[0]}")
        with self.world.lock:
            answer = self._factory(with_debug=not without_debug)
        return json_answer(encode(answer))

    def _record(self, instrument: Instrument) -> dict[str, Any]:
        """An instrument; the coin's supply is what all its contracts are worth now, locked ones included."""
        # The coin's contracts are in this ledger, so its supply is counted and cannot disagree with the history.
        if instrument.id == COIN_ID:
            return instrument.record(supply=decimal(self.world.coins.units), as_of=timestamps.exact(self.world.now))
        if instrument == SECOND:
            held = sum(units(holding.payload["amount"]) for holding in self.world.contracts.of(TOKEN))
            return instrument.record(supply=decimal(held), as_of=timestamps.exact(self.world.now))
        return instrument.record(supply=instrument.supply, as_of=instrument.counted())

    def _listed(self) -> tuple[Instrument, ...]:
        return self.world.instruments if self.rules == COIN_RULES.entity else (SECOND,)

    def _instrument(self, instrument_id: str) -> Instrument:
        instrument = next((listed for listed in self._listed() if listed.id == instrument_id), None)
        if instrument is None:
            raise RefusalError(404, f"Instrument {instrument_id} not found")
        return instrument

    def _factory(self, *, with_debug: bool) -> dict[str, Any]:
        rules, world = self.world.rules, self.world
        if not world.rounds or TRANSFER_FACTORY.entity not in rules:
            raise RefusalError(404, "This registry has no allocation factory")
        factory, coin_rules, open_round = rules[TRANSFER_FACTORY.entity], rules[COIN_RULES.entity], world.rounds[0]
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
    told = {
        "templateId": contract.template_id,
        "contractId": contract.contract_id,
        "createdEventBlob": blob(contract.contract_id),
        "synchronizerId": contract.synchronizer_id,
    }
    if not with_debug:
        return told
    return {
        **told,
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
        raise RefusalError(400, "choiceArguments is missing or no object")
    extra = arguments.get("extraArgs")
    for name in ("context", "meta"):
        value = extra.get(name) if isinstance(extra, dict) else None
        if value not in ({}, {"values": {}}):
            raise RefusalError(400, f"choiceArguments.extraArgs.{name} must be an empty object")
