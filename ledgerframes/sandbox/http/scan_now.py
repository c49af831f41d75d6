"""The network's current state as routes of scan: rounds, names, traffic, faucets, apps, members, votes.

A validator passes some of these answers on to callers with a token, and has its own: the caller's wallet and names. It
has no history: no updates, no events, no snapshots, no licenses.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.generator.coins import offers_of
from ledgerframes.sandbox.generator.names import names_of
from ledgerframes.sandbox.http.responses import (
    INT32,
    RefusalError,
    check_size,
    contract_record,
    encode,
    found,
    malformed,
    with_state,
)
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, blob, round_of
from ledgerframes.sandbox.world.parties import name_of
from ledgerframes.sandbox.world.templates import (
    CLOSED_ROUND,
    COIN_RULES,
    DSO_RULES,
    FEATURED_RIGHT,
    ISSUING_ROUND,
    LICENSE,
    MEMBER_TRAFFIC,
    NAME_ENTRY,
    NAME_RULES,
    PREAPPROVAL,
    VOTE_REQUEST,
)
from ledgerframes.sandbox.world.world import World

ROUTES: Final = Routes()
_LIVING: Final = 600 * timestamps.SECOND


@ROUTES.post("/api/scan/v0/open-and-issuing-mining-rounds")
def rounds(request: ServerRequest) -> dict[str, Any]:
    """The rounds that are open or issuing; contracts the caller has are left out of the answer."""
    world = request.world
    known = [request.ids(f"cached_{name}_contract_ids") for name in ("open_mining_round", "issuing_round")]
    return {
        "time_to_live_in_microseconds": _LIVING,
        "open_mining_rounds": _by_id(world.rounds, known[0]),
        "issuing_mining_rounds": _by_id(world.contracts.of(ISSUING_ROUND), known[1]),
    }


@ROUTES.get("/api/scan/v0/closed-rounds")
def closed_rounds(request: ServerRequest) -> dict[str, Any]:
    """Those that still have coupons, or had until lately; the earliest first."""
    closed = sorted(request.world.contracts.of(CLOSED_ROUND), key=round_of)
    return {"rounds": [contract_record(contract) for contract in closed]}


@ROUTES.get("/api/scan/v0/domains/{domain_id:path}/members/{member_id:path}/traffic-status")
def traffic(request: ServerRequest) -> dict[str, Any]:
    """The traffic that a member has bought and used on a synchronizer."""
    world, synchronizer, member = request.world, request.part("domain_id"), request.part("member_id")
    if synchronizer not in world.synchronizers:
        raise RefusalError(404, f"Unknown synchronizer {synchronizer}")
    kind, _, party = member.partition("::")
    if kind not in ("PAR", "MED"):
        raise RefusalError(400, f"Could not decode member ID: {member}")
    if party not in {*_licenses(world), *_members(world)}:
        raise RefusalError(404, f"No traffic state found for member {member}")
    # Purchased traffic counts at once here; on real networks it takes a while.
    bought = [purchase.payload for purchase in world.contracts.of(MEMBER_TRAFFIC)]
    mine = [one for one in bought if (one["synchronizerId"], one["memberId"]) == (synchronizer, member)]
    limit = sum(int(one["totalPurchased"]) for one in mine)
    consumed = zlib.crc32(f"{synchronizer}/{member}".encode()) % (limit + 1)
    actual = {"total_consumed": consumed, "total_limit": limit}
    return {"traffic_status": {"actual": actual, "target": {"total_purchased": limit}}}


@ROUTES.get("/api/scan/v0/ans-entries")
@ROUTES.get("/api/validator/v0/scan-proxy/ans-entries")
def names(request: ServerRequest) -> dict[str, Any]:
    """Names, the oldest first, and no next page."""
    prefix, size = request.query("name_prefix"), request.integer("page_size", bound=INT32)
    check_size("page_size", size, request.server.page_maximum)
    return {"entries": [entry for entry in _entries(request.world) if entry["name"].startswith(prefix)][:size]}


@ROUTES.get("/api/scan/v0/ans-entries/by-party/{party:path}")
@ROUTES.get("/api/validator/v0/scan-proxy/ans-entries/by-party/{party:path}")
def name_by_party(request: ServerRequest) -> dict[str, Any]:
    """A party's first name in the order of names."""
    party = request.part("party")
    entries = (entry for entry in _entries(request.world) if entry["user"] == party)
    first = min(entries, key=lambda entry: str(entry["name"]), default=None)
    return {"entry": found(first, f"No ans entry found for party: {party}")}


@ROUTES.get("/api/scan/v0/ans-entries/by-name/{name:path}")
@ROUTES.get("/api/validator/v0/scan-proxy/ans-entries/by-name/{name:path}")
def name_by_name(request: ServerRequest) -> dict[str, Any]:
    """The entry of a name."""
    name = request.part("name")
    named = next((entry for entry in _entries(request.world) if entry["name"] == name), None)
    return {"entry": found(named, f"No ans entry found for name: {name}")}


@ROUTES.get("/api/scan/v0/validators/validator-faucets")
def faucets(request: ServerRequest) -> dict[str, Any]:
    """The faucet rounds that validators have collected; those without a license are ignored."""
    request.needed("validator_ids")
    wanted, licenses = request.http.query_params.getlist("validator_ids"), _licenses(request.world)
    states = [_faucet(one, licenses[one]["faucetState"]) for one in sorted(set(wanted)) if one in licenses]
    return {"validatorsReceivedFaucets": states}


@ROUTES.get("/api/scan/v0/featured-apps")
def featured_apps(request: ServerRequest) -> dict[str, Any]:
    """The rights of the featured apps."""
    return {"featured_apps": [contract_record(right) for right in request.world.contracts.of(FEATURED_RIGHT)]}


@ROUTES.get("/api/scan/v0/featured-apps/{provider_party_id:path}")
@ROUTES.get("/api/validator/v0/scan-proxy/featured-apps/{provider_party_id:path}")
def featured_app(request: ServerRequest) -> dict[str, Any]:
    """A provider's right; an empty object if there is none."""
    provider = request.part("provider_party_id")
    rights = [one for one in request.world.contracts.of(FEATURED_RIGHT) if one.payload["provider"] == provider]
    return {"featured_app_right": contract_record(rights[0])} if rights else {}


@ROUTES.get("/api/scan/v0/dso")
@ROUTES.get("/api/validator/v0/scan-proxy/dso")
def dso(request: ServerRequest) -> dict[str, Any]:
    """The rules, the newest round, and the members."""
    world = request.world
    dso_rules, coin_rules = (world.rules.get(template.entity) for template in (DSO_RULES, COIN_RULES))
    if dso_rules is None or coin_rules is None or not world.rounds:
        raise RefusalError(404, "This ledger has no DsoRules")
    members = _members(world)
    return {
        "sv_user": "administrator",
        "sv_party_id": next(iter(members)),
        "dso_party_id": dso_rules.payload["dso"],
        "voting_threshold": -(-2 * len(members) // 3),
        "latest_mining_round": with_state(world.rounds[-1]),
        "amulet_rules": with_state(coin_rules),
        "dso_rules": with_state(dso_rules),
        "sv_node_states": [_node(world, dso_rules, party, name) for party, name in members.items()],
        "initial_round": "0",
    }


@ROUTES.get("/api/scan/v0/scans")
def scans(request: ServerRequest) -> dict[str, Any]:
    """The members' scans, under addresses that lead nowhere."""
    every = [{"publicUrl": _address("scan", name), "svName": name} for name in _members(request.world).values()]
    return {"scans": [{"domainId": request.world.synchronizers[0], "scans": every}]}


def _licenses(world: World) -> dict[str, dict[str, Any]]:
    """The payload of each validator's license, by its party."""
    return {one.payload["validator"]: one.payload for one in world.contracts.of(LICENSE)}


def _members(world: World) -> dict[str, str]:
    """The name of each super validator, by its party."""
    rules = world.rules.get(DSO_RULES.entity)
    return {} if rules is None else {party: info["name"] for party, info in rules.payload["svs"]}


def _entries(world: World) -> list[dict[str, Any]]:
    """All names that have not expired, the oldest first, then the operator's own."""
    entries = [
        {
            "contract_id": entry.contract_id,
            "user": entry.payload["user"],
            "name": entry.payload["name"],
            "url": entry.payload["url"],
            "description": entry.payload["description"],
            "expires_at": entry.payload["expiresAt"],
        }
        for entry in world.contracts.of(NAME_ENTRY)
        if timestamps.parse(entry.payload["expiresAt"]) > world.now
    ]
    rules = world.rules.get(DSO_RULES.entity)
    if rules is not None:
        own = {f"{name_of(party)}.sv.cns": party for party in _members(world)}
        own["dso.cns"] = rules.payload["dso"]
        entries += [{"user": party, "name": name, "url": "", "description": ""} for name, party in own.items()]
    return entries


def _node(world: World, rules: Contract, party: str, name: str) -> dict[str, Any]:
    """The state of a super validator's node, as a contract that the history does not have."""
    node = {
        "cometBft": {"nodes": [], "governanceKeys": [], "sequencingKeys": []},
        "sequencer": {
            "migrationId": str(world.updates[-1].migration_id if world.updates else 0),
            "sequencerId": f"SEQ::{party}",
            "url": _address("sequencer", name),
            "availableAfter": rules.created_at,
        },
        "mediator": {"mediatorId": f"MED::{party}"},
        "scan": {"publicUrl": _address("scan", name)},
        "legacySequencerConfig": None,
    }
    payload = {
        "dso": rules.payload["dso"],
        "sv": party,
        "svName": name,
        "state": {"synchronizerNodes": [[world.synchronizers[0], node]]},
    }
    entity = "Splice.DSO.SvState:SvNodeState"
    contract_id = f"00{hashlib.sha256(entity.encode() + encode(payload)).hexdigest()}ca10"
    contract = {
        "template_id": f"{rules.template_id.partition(':')[0]}:{entity}",
        "contract_id": contract_id,
        "payload": payload,
        "created_event_blob": blob(contract_id),
        "created_at": rules.created_at,
    }
    return {"contract": contract, "domain_id": world.synchronizers[0]}


def _by_id(contracts: Iterable[Contract], known: list[Any]) -> dict[str, Any]:
    """Contracts by their ids, without those that the caller knows."""
    return {one.contract_id: with_state(one, whole=one.contract_id not in known) for one in contracts}


def _faucet(validator: str, state: dict[str, Any] | None) -> dict[str, Any]:
    first, last, missed = 0, 0, 0
    if state is not None:
        first, last = (int(state[name]["number"]) for name in ("firstReceivedFor", "lastReceivedFor"))
        missed = int(state["numCouponsMissed"])
    return {
        "validator": validator,
        "numRoundsCollected": last - first + 1 - missed if state is not None else 0,
        "numRoundsMissed": missed,
        "firstCollectedInRound": first,
        "lastCollectedInRound": last,
    }


def _address(kind: str, name: str) -> str:
    return f"https://{kind}.{name.lower()}.example"


_CLOSE: Final = "DsoRules_CloseVoteRequest"


@ROUTES.get("/api/scan/v0/admin/sv/voterequests")
def requests(request: ServerRequest) -> Any:
    """The open requests."""
    return _listed("dso_rules_vote_requests", request.world.contracts.of(VOTE_REQUEST))


@ROUTES.post("/api/scan/v0/voterequest")
def requests_by_id(request: ServerRequest) -> Any:
    """Of the open requests, those whose first contract is named."""
    ids = request.ids("vote_request_contract_ids")
    return _listed("vote_requests", (one for one in request.world.contracts.of(VOTE_REQUEST) if _first(one) in ids))


@ROUTES.post("/api/scan/v0/admin/sv/voteresults")
def results(request: ServerRequest) -> Any:
    """The results of votes, the latest to take effect first."""
    body = request.object()
    limit, start = body.get("limit"), body.get("pageToken") or 0
    if not isinstance(limit, int) or not isinstance(start, int) or limit < 1:
        raise malformed("limit and pageToken must be integers")
    results = _results(request, body)
    more = {"next_page_token": start + limit} if start + limit < len(results) else {}
    return {"dso_rules_vote_results": results[start : start + limit], **more}


def _results(request: ServerRequest, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of closes that a request asks for."""
    closes = [one.rendered for one in request.world.updates if _CLOSE.encode() in one.rendered]
    events = [event for item in closes for event in msgspec.json.decode(item)["events_by_id"].values()]
    every = [event["exercise_result"] for event in events if event.get("choice") == _CLOSE]
    return sorted((one for one in every if _is_wanted(one, wanted)), key=_effective, reverse=True)


def _listed(name: str, contracts: Iterable[Contract]) -> dict[str, Any]:
    return {name: [contract_record(one) for one in contracts]}


def _first(request: Contract) -> str:
    """The contract that a request began with."""
    return str(request.payload["trackingCid"] or request.contract_id)


def _effective(result: dict[str, Any]) -> str:
    return str(result["outcome"]["value"].get("effectiveAt") or result["completedAt"])


def _is_wanted(result: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a result matches the filters of a request, each of which may be omitted."""
    request, effective = result["request"], _effective(result)
    (action,) = (one for one in request["action"]["value"].values() if isinstance(one, dict))
    values = {
        "actionName": action["tag"],
        "accepted": result["outcome"]["tag"] == "VRO_Accepted",
        "requester": request["requester"],
    }
    begin, end = wanted.get("effectiveFrom") or "", wanted.get("effectiveTo") or "~"
    return begin <= effective <= end and all(wanted.get(name) in (None, value) for name, value in values.items())


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
    consent = found(next(lasting, None), f"No TransferPreapproval found for party: {party}")
    return {"transfer_preapproval": with_state(consent)}


@ROUTES.get("/api/validator/v0/scan-proxy/open-and-issuing-mining-rounds")
def listed_rounds(request: ServerRequest) -> dict[str, Any]:
    """The rounds as lists, and all of them."""
    return {
        "open_mining_rounds": [with_state(one) for one in request.world.rounds],
        "issuing_mining_rounds": [with_state(one) for one in request.world.contracts.of(ISSUING_ROUND)],
    }


def _wallet(request: ServerRequest) -> str:
    """The caller's own party."""
    return found(request.user.primary_party or None, f"No wallet found for user {request.user.id}")


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
