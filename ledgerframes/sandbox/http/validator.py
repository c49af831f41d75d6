"""The Validator interface over a world: the caller's wallet and names, and what only it passes on from scan, as routes.

Most that it passes on is declared next to scan's own routes. There is no history here: no updates, no events, no
snapshots, no licenses.
"""

from __future__ import annotations

from typing import Any, Final

from ledgerframes.sandbox.generator.names import names_of
from ledgerframes.sandbox.generator.offers import offers_of
from ledgerframes.sandbox.http.responses import RefusalError, contract_record, with_state
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import ISSUING_ROUND, NAME_RULES, PREAPPROVAL
from ledgerframes.sandbox.world.world import World

ROUTES: Final = Routes()


@ROUTES.get("/api/validator/v0/wallet/transfer-offers")
def transfer_offers(request: ServerRequest) -> dict[str, Any]:
    """The open offers from or to the caller."""
    return {"offers": [contract_record(offer) for offer in offers_of(request.world, _wallet(request))]}


@ROUTES.get("/api/validator/v0/entry/all")
def name_entries(request: ServerRequest) -> dict[str, Any]:
    """The caller's names: times as text of milliseconds, durations as text of microseconds."""
    return {"entries": [_entry(request.world, entry) for entry in names_of(request.world, _wallet(request))]}


# `:path`, because a percent-encoded slash is decoded before routing.
@ROUTES.get("/api/validator/v0/scan-proxy/transfer-preapprovals/by-party/{party:path}")
def transfer_preapproval(request: ServerRequest) -> dict[str, Any]:
    """A party's consent to be sent coin that has not run out."""
    world, party = request.world, request.part("party")
    consents = [one for one in world.contracts.of(PREAPPROVAL) if one.payload["receiver"] == party]
    lasting = (one for one in consents if timestamps.parse(one.payload["expiresAt"]) > world.now)
    consent = next(lasting, None)
    if consent is None:
        raise RefusalError(404, f"No TransferPreapproval found for party: {party}")
    return {"transfer_preapproval": with_state(consent)}


@ROUTES.get("/api/validator/v0/scan-proxy/open-and-issuing-mining-rounds")
def rounds(request: ServerRequest) -> dict[str, Any]:
    """The rounds as lists, and all of them."""
    return {
        "open_mining_rounds": [with_state(one) for one in request.world.rounds],
        "issuing_mining_rounds": [with_state(one) for one in request.world.contracts.of(ISSUING_ROUND)],
    }


def _wallet(request: ServerRequest) -> str:
    """The caller's own party."""
    if not request.user.primary_party:
        raise RefusalError(404, f"No wallet found for user {request.user.id}")
    return request.user.primary_party


def _entry(world: World, entry: Contract) -> dict[str, str]:
    """A name entry as the validator sends it (contract: Resources, Name-service entry)."""
    terms = world.rules[NAME_RULES.entity].payload["config"]
    return {
        "contractId": entry.contract_id,
        "name": entry.payload["name"],
        "amount": terms["entryFee"],
        "unit": "USDUNIT",
        # Epoch milliseconds as text, as real validators send them.
        "expiresAt": str(timestamps.parse(entry.payload["expiresAt"]) // 1_000),
        "paymentInterval": terms["entryLifetime"]["microseconds"],
        "paymentDuration": terms["renewalDuration"]["microseconds"],
    }
