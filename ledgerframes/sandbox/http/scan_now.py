"""The network's current state, as Starlette routes of scan: rounds, names, traffic, faucets, apps, members."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http.responses import (
    INT32,
    Limits,
    RefusalError,
    check_list,
    check_size,
    contract_record,
    encode,
    json_answer,
    query_integer,
    read_object,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.configuration import name_of
from ledgerframes.sandbox.world.contracts import Contract, blob, round_of
from ledgerframes.sandbox.world.templates import (
    CLOSED_ROUND,
    COIN_RULES,
    DSO_RULES,
    FEATURED_RIGHT,
    ISSUING_ROUND,
    LICENSE,
    MEMBER_TRAFFIC,
    NAME_ENTRY,
)
from ledgerframes.sandbox.world.world import World

_LIVING: Final = 600 * timestamps.SECOND


@dataclass(frozen=True, slots=True)
class CurrentRoutes:
    """The handlers of one scan server."""

    world: World
    limits: Limits

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        handlers = {
            "/v0/closed-rounds": self.closed_rounds,
            "/v0/domains/{domain_id:path}/members/{member_id:path}/traffic-status": self.traffic,
            "/v0/ans-entries": self.names,
            "/v0/ans-entries/by-party/{party:path}": self.name_by_party,
            "/v0/ans-entries/by-name/{name:path}": self.name_by_name,
            "/v0/validators/validator-faucets": self.faucets,
            "/v0/featured-apps": self.featured_apps,
            "/v0/featured-apps/{provider_party_id:path}": self.featured_app,
            "/v0/dso": self.dso,
            "/v0/dso-party-id": self.dso_party,
            "/v0/scans": self.scans,
        }
        rounds = Route("/v0/open-and-issuing-mining-rounds", self.rounds, methods=["POST"])
        return [rounds, *(Route(path, handler, methods=["GET"]) for path, handler in handlers.items())]

    async def rounds(self, request: Request) -> Response:
        """POST /v0/open-and-issuing-mining-rounds: contracts the caller has are left out of the answer."""
        body = await read_object(request)
        names = [f"cached_{name}_contract_ids" for name in ("open_mining_round", "issuing_round")]
        known = [_ids(body, name) for name in names]
        for name, ids in zip(names, known, strict=True):
            check_list(name, ids, maximum=self.limits.items)
        with self.world.lock:
            answer = {
                "time_to_live_in_microseconds": _LIVING,
                "open_mining_rounds": _by_id(self.world.rounds, known[0]),
                "issuing_mining_rounds": _by_id(self.world.contracts.of(ISSUING_ROUND), known[1]),
            }
        return json_answer(encode(answer))

    async def closed_rounds(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/closed-rounds: those that still have coupons, or had until lately; the earliest first."""
        with self.world.lock:
            closed = sorted(self.world.contracts.of(CLOSED_ROUND), key=round_of)
            records = [contract_record(contract) for contract in closed]
        return json_answer(encode({"rounds": records}))

    async def traffic(self, request: Request) -> Response:
        """GET /v0/domains/{domain_id}/members/{member_id}/traffic-status."""
        synchronizer, member = (request.path_params[name] for name in ("domain_id", "member_id"))
        if synchronizer not in self.world.synchronizers:
            raise RefusalError(404, f"Unknown synchronizer {synchronizer}")
        kind, _, party = member.partition("::")
        if kind not in ("PAR", "MED"):
            raise RefusalError(400, f"Could not decode member ID: {member}")
        with self.world.lock:
            validators = {
                license_contract.payload["validator"] for license_contract in self.world.contracts.of(LICENSE)
            }
            known = party in {*validators, *self._members()}
        if not known:
            raise RefusalError(404, f"No traffic state found for member {member}")
        # Purchased traffic counts at once here; on real networks it takes a while.
        limit = self._purchased(synchronizer, member)
        consumed = zlib.crc32(f"{synchronizer}/{member}".encode()) % (limit + 1)
        status = {
            "actual": {"total_consumed": consumed, "total_limit": limit},
            "target": {"total_purchased": limit},
        }
        return json_answer(encode({"traffic_status": status}))

    async def names(self, request: Request) -> Response:
        """GET /v0/ans-entries: the oldest first, and no next page."""
        prefix = request.query_params.get("name_prefix", "")
        size = query_integer(request, "page_size", bound=INT32)
        check_size("page_size", size, self.limits.page)
        entries = [entry for entry in self._entries() if entry["name"].startswith(prefix)]
        return json_answer(encode({"entries": entries[:size]}))

    async def name_by_party(self, request: Request) -> Response:
        """GET /v0/ans-entries/by-party/{party}: the first in the order of names."""
        party = request.path_params["party"]
        entries = [entry for entry in self._entries() if entry["user"] == party]
        if not entries:
            raise RefusalError(404, f"No ans entry found for party: {party}")
        return json_answer(encode({"entry": min(entries, key=lambda entry: str(entry["name"]))}))

    async def name_by_name(self, request: Request) -> Response:
        """GET /v0/ans-entries/by-name/{name}."""
        name = request.path_params["name"]
        named = next((entry for entry in self._entries() if entry["name"] == name), None)
        if named is None:
            raise RefusalError(404, f"No ans entry found for name: {name}")
        return json_answer(encode({"entry": named}))

    async def faucets(self, request: Request) -> Response:
        """GET /v0/validators/validator-faucets: those without a license are ignored."""
        wanted = request.query_params.getlist("validator_ids")
        if not wanted:
            raise RefusalError(400, "Request is missing required query parameter 'validator_ids'")
        with self.world.lock:
            licenses = {
                license_contract.payload["validator"]: license_contract.payload
                for license_contract in self.world.contracts.of(LICENSE)
            }
        states = [
            _faucet(validator, licenses[validator]["faucetState"])
            for validator in sorted(set(wanted))
            if validator in licenses
        ]
        return json_answer(encode({"validatorsReceivedFaucets": states}))

    async def featured_apps(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/featured-apps."""
        with self.world.lock:
            apps = [contract_record(right) for right in self.world.contracts.of(FEATURED_RIGHT)]
        return json_answer(encode({"featured_apps": apps}))

    async def featured_app(self, request: Request) -> Response:
        """GET /v0/featured-apps/{provider_party_id}: an empty object if there is none."""
        provider = request.path_params["provider_party_id"]
        with self.world.lock:
            rights = [one for one in self.world.contracts.of(FEATURED_RIGHT) if one.payload["provider"] == provider]
        return json_answer(encode({"featured_app_right": contract_record(rights[0])} if rights else {}))

    async def dso_party(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/dso-party-id."""
        with self.world.lock:
            rules = self.world.rules.get(DSO_RULES.entity)
        if rules is None:
            raise RefusalError(404, "This ledger has no DsoRules")
        return json_answer(encode({"dso_party_id": rules.payload["dso"]}))

    async def dso(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/dso."""
        with self.world.lock:
            dso_rules, coin_rules = (self.world.rules.get(template.entity) for template in (DSO_RULES, COIN_RULES))
            if dso_rules is None or coin_rules is None or not self.world.rounds:
                raise RefusalError(404, "This ledger has no DsoRules")
            members = self._members()
            answer = {
                "sv_user": "administrator",
                "sv_party_id": next(iter(members)),
                "dso_party_id": dso_rules.payload["dso"],
                "voting_threshold": -(-2 * len(members) // 3),
                "latest_mining_round": with_state(self.world.rounds[-1]),
                "amulet_rules": with_state(coin_rules),
                "dso_rules": with_state(dso_rules),
                "sv_node_states": [self._node(dso_rules, party, name) for party, name in members.items()],
                "initial_round": "0",
            }
        return json_answer(encode(answer))

    async def scans(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's signature
        """GET /v0/scans: addresses that lead nowhere."""
        with self.world.lock:
            members = self._members()
        scans = [{"publicUrl": _address("scan", name), "svName": name} for name in members.values()]
        return json_answer(encode({"scans": [{"domainId": self.world.synchronizers[0], "scans": scans}]}))

    def _purchased(self, synchronizer: str, member: str) -> int:
        """How much a member may send by all its purchases."""
        with self.world.lock:
            bought = [purchase.payload for purchase in self.world.contracts.of(MEMBER_TRAFFIC)]
        wanted = (synchronizer, member)
        return sum(
            int(purchase["totalPurchased"])
            for purchase in bought
            if (purchase["synchronizerId"], purchase["memberId"]) == wanted
        )

    def _members(self) -> dict[str, str]:
        """The name of each super validator, by its party."""
        rules = self.world.rules.get(DSO_RULES.entity)
        return {} if rules is None else {party: info["name"] for party, info in rules.payload["svs"]}

    def _entries(self) -> list[dict[str, Any]]:
        """All names that have not expired, the oldest first, then the operator's own."""
        world = self.world
        with world.lock:
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
                own = {f"{name_of(party)}.sv.cns": party for party in self._members()}
                own["dso.cns"] = rules.payload["dso"]
                entries += [{"user": party, "name": name, "url": "", "description": ""} for name, party in own.items()]
        return entries

    def _node(self, rules: Contract, party: str, name: str) -> dict[str, Any]:
        """The state of a super validator's node, as a contract of its own."""
        node = {
            "cometBft": {"nodes": [], "governanceKeys": [], "sequencingKeys": []},
            "sequencer": {
                "migrationId": str(self.world.updates[-1].migration_id if self.world.updates else 0),
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
            "state": {"synchronizerNodes": [[self.world.synchronizers[0], node]]},
        }
        contract = _made_up(rules, "Splice.DSO.SvState:SvNodeState", payload)
        return {"contract": contract, "domain_id": self.world.synchronizers[0]}


def _ids(body: dict[str, Any], name: str) -> list[Any]:
    ids = body.get(name)
    if not isinstance(ids, list):
        raise RefusalError(400, f"The request content was malformed: {name} must be an array")
    return ids


def _by_id(contracts: Iterable[Contract], known: list[Any]) -> dict[str, Any]:
    """Contracts by their ids, without those that the caller knows."""
    return {
        contract.contract_id: with_state(contract, whole=contract.contract_id not in known) for contract in contracts
    }  # fmt: skip


def with_state(contract: Contract, *, whole: bool = True) -> dict[str, Any]:
    """A contract and its synchronizer; only the latter if the caller has the contract."""
    told: dict[str, Any] = {"contract": contract_record(contract)} if whole else {}
    if contract.synchronizer_id is not None:
        told["domain_id"] = contract.synchronizer_id
    return told


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


def _made_up(like: Contract, entity: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A contract that the history does not have, of the same package as another and made from its payload."""
    contract_id = f"00{hashlib.sha256(entity.encode() + encode(payload)).hexdigest()}ca10"
    return {
        "template_id": f"{like.template_id.partition(':')[0]}:{entity}",
        "contract_id": contract_id,
        "payload": payload,
        "created_event_blob": blob(contract_id),
        "created_at": like.created_at,
    }


def _address(kind: str, name: str) -> str:
    return f"https://{kind}.{name.lower()}.example"
