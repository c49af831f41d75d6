"""Answers to be broken: those of the sandbox, plain and hostile, and of captured real servers where they are there."""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import httpx
import msgspec
from msgspec import Raw

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from ledgerframes.interfaces.catalogue import CALLS
from ledgerframes.transport.request import DeprecatedEndpointWarning
from tests.replay import CAPTURES, PREFIXES, read_capture
from tests.rigs.servers import started

UPDATES = "POST /v2/updates"

# Answers of commands, which change a ledger, so that none is asked for them here.
COMMANDS = {
    "POST /v2/commands/submit-and-wait-for-reassignment": {
        "reassignment": {
            "updateId": "1220aa", "commandId": "c", "workflowId": "", "offset": 7, "synchronizerId": "a::12",
            "recordTime": "2026-01-30T08:39:28.485596Z", "traceContext": {"traceparent": "00-1-2-01"},
            "events": [
                {"JsUnassignedEvent": {"value": {
                    "offset": 7, "nodeId": 0, "contractId": "00c", "templateId": "p:M:E", "source": "a::12",
                    "target": "b::12", "reassignmentId": "0001", "submitter": "alice", "reassignmentCounter": 1,
                    "witnessParties": ["alice"], "assignmentExclusivity": "2026-01-30T08:40:28Z", "packageName": "p",
                }}},
                {"JsAssignmentEvent": {
                    "source": "a::12", "target": "b::12", "reassignmentId": "0001", "submitter": "alice",
                    "reassignmentCounter": 1, "createdEvent": {
                        "offset": 8, "nodeId": 1, "contractId": "00c", "templateId": "p:M:E", "contractKey": None,
                        "createArgument": {"owner": "alice", "amount": "1.0"}, "createdEventBlob": "",
                        "interfaceViews": [], "witnessParties": ["alice"], "signatories": ["alice"], "observers": [],
                        "createdAt": "2026-01-30T08:39:28Z", "packageName": "p",
                    },
                }},
            ],
        }
    },
    "POST /v2/commands/submit-and-wait-for-transaction-tree": {
        "transactionTree": {
            "updateId": "1220bb", "commandId": "c", "workflowId": "w", "offset": 9, "synchronizerId": "a::12",
            "effectiveAt": "2026-01-30T08:39:28.4Z", "recordTime": "2026-01-30T08:39:28.485596Z",
            "eventsById": {
                "0": {"ExercisedTreeEvent": {"value": {
                    "offset": 9, "nodeId": 0, "contractId": "00c", "templateId": "p:M:E", "interfaceId": None,
                    "choice": "Go", "choiceArgument": {"n": "1"}, "actingParties": ["alice"], "consuming": True,
                    "witnessParties": ["alice"], "lastDescendantNodeId": 1, "exerciseResult": "x", "packageName": "p",
                }}},
                "1": {"CreatedTreeEvent": {"value": {
                    "offset": 9, "nodeId": 1, "contractId": "00d", "templateId": "p:M:E", "createArgument": {},
                    "witnessParties": ["alice"], "signatories": ["alice"], "observers": [], "packageName": "p",
                    "createdAt": "2026-01-30T08:39:28.485596Z", "acsDelta": True,
                }}},
            },
        }
    },
    "POST /registry/allocation-instruction/v1/allocation-factory": {
        "factoryId": "00f", "choiceContext": {
            "choiceContextData": {"values": {"x": {"tag": "AV_Text"}}},
            "disclosedContracts": [
                {"templateId": "p:M:E", "contractId": "00g", "createdEventBlob": "Cg==", "synchronizerId": "a::12"},
            ],
        },
    },
    "POST /v2/commands/async/submit-reassignment": {},
    "POST /v2/packages": {},
    "POST /v2/dars/validate": {},
    "POST /v2/users": {
        "user": {"id": "u", "primaryParty": "", "isDeactivated": False, "metadata": {"annotations": {}}},
    },
}  # fmt: skip

# The routes of other releases, answered as those that they stand in for.
SUCCESSORS = {
    "GET /v2/updates/{update_id}": "GET /v1/updates/{update_id}",
    "POST /v2/updates/update-by-id": "POST /v2/updates/transaction-by-id",
    "POST /v1/scan-proxy/holdings/summary": "POST /v0/scan-proxy/holdings/summary",
    "GET /v0/reward-accounting-process/rounds/earliest-available": (
        "GET /v0/internal/reward-accounting-process/rounds/earliest-available"
    ),
}


@dataclass(frozen=True)
class Corpus:
    """What servers say.

    Attributes:
        answers: bodies by endpoint, the unbroken answers to successful requests.
        histories: items of whole histories, in their order, each as it was sent.
        parties: ids to ask for.
    """

    answers: Mapping[str, list[bytes]]
    histories: list[list[bytes]]
    parties: list[str] = field(default_factory=list)

    def everything(self) -> list[bytes]:
        """All bodies, for splicing."""
        return [body for bodies in self.answers.values() for body in bodies]


class _Listening(httpx.HTTPTransport):
    """Sends, and keeps the bodies of what succeeds."""

    def __init__(self, heard: dict[str, list[bytes]]) -> None:
        super().__init__(trust_env=False)
        self._heard = heard

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        answer.read()
        if answer.is_success:
            self._heard[endpoint_of(request)].append(answer.content)
        headers = {"content-type": answer.headers.get("content-type", "")}
        return httpx.Response(answer.status_code, headers=headers, content=answer.content)


def endpoint_of(request: httpx.Request) -> str:
    """Which of the endpoints a request is for, under the name the contract has."""
    path = request.url.raw_path.decode().partition("?")[0].removeprefix("/")
    for prefix in ("api/scan", "api/validator", "api/ledger"):
        path = path.removeprefix(prefix).removeprefix("/")
    return named(request.method, f"/{path}")


def named(method: str, path: str) -> str:
    """The endpoint of a path, parameters filled in or not."""
    for template in (*(served.name for served in CALLS), *SUCCESSORS):
        kind, _, route = template.partition(" ")
        if kind == method and re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route)), path):
            return SUCCESSORS.get(template, template)
    return f"{method} {path}"


def gather(updates: int = 60) -> Corpus:
    """Ask sandboxes for everything, and read the captures where there are any."""
    answers: dict[str, list[bytes]] = defaultdict(list)
    histories, parties = [], ["nobody::12"]
    for options in ({}, {"hostile": True}, {"release": "0.9"}, {"release": "0.5"}):
        with started(updates=updates, **options) as sandbox:
            names = ("scan_url", "validator_url", "registry_url", "ledger_url")
            settings = Settings(
                **{name: (getattr(sandbox, name),) for name in names},
                ledger_token=sandbox.token("validator_operator"), validator_token=sandbox.token("validator_operator"),
            )  # fmt: skip

            with lf.types.Network(settings, transport=_Listening(answers)) as net:
                parties += ask_everything(net)
            world = [json.dumps(item) for item in sandbox.world.items()] if not options.get("hostile") else []
        if world:
            histories.append([item.encode() for item in world])
    for name, body in COMMANDS.items():
        answers[name].append(json.dumps(body).encode())
    histories += read_captures(answers)
    histories.append([item for body in answers[UPDATES][-3:] for item in items_of(body)])
    return Corpus(dict(answers), [sorted_once(items) for items in histories if items], parties)


def ask_everything(net: lf.types.Network) -> list[str]:
    """Ask for all that can be read; the parties found on the way."""
    updates = lf.load_updates(net, page_size=8).update_id.tolist()
    parties = [user.primary_party for user in net.ledger.iter_users() if user.primary_party][:5]
    for load in (
        *(lf.load_licenses, lf.load_instruments, lf.load_name_entries, lf.load_name_rules, lf.load_transfer_offers),
        lambda net: [net.scan.update_by_id(one) for one in updates[::7]],
        lambda net: lf.load_holdings_summary(net, parties),
        lambda net: lf.load_transfer_preapprovals(net, parties),
        lambda net: [lf.load_ledger_transaction(net, one) for one in updates[::7]],
        lambda net: net.scan.earliest_available_round(),
        lambda net: [
            net.scan.update_by_hash(one) for one in lf.load_updates(net).external_transaction_hash.dropna()[:3]
        ],
        lambda net: net.registry.allocation_factory({"extraArgs": {"context": {}, "meta": {}}}),
    ):
        # Routes of older releases are asked on purpose; what one release does not have, another has.
        with warnings.catch_warnings(), suppress(lf.errors.LedgerframesError):
            warnings.simplefilter("ignore", DeprecatedEndpointWarning)
            load(net)
    return parties


def read_captures(answers: dict[str, list[bytes]]) -> list[list[bytes]]:
    """Add what was captured of real servers; gives the histories among them."""
    histories = []
    for path in sorted(CAPTURES.glob("*.json")) if CAPTURES.is_dir() else ():
        capture = read_capture(path.stem)
        if capture.status == 200:
            prefix = max((one for one in PREFIXES.values() if capture.path.startswith(one)), key=len)
            name = named(capture.method, capture.path.removeprefix(prefix))
            answers[name].append(capture.sent)
            if name == UPDATES:
                histories.append(items_of(capture.sent))
    return histories


def items_of(page: bytes) -> list[bytes]:
    """The items of a page of updates, each as it was sent."""
    return [bytes(raw) for raw in msgspec.json.decode(page, type=dict[str, list[Raw]])["transactions"]]


def sorted_once(items: Iterable[bytes]) -> list[bytes]:
    """Each update once."""
    found: dict[str, bytes] = {}
    for item in items:
        found.setdefault(json.loads(item)["update_id"], item)
    return list(found.values())
