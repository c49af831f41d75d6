"""Answers to be broken: those of the sandbox, plain and hostile, and of captured real servers where they are there."""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import httpx
import msgspec
from msgspec import Raw

import ledgerframes as lf
from docs.endpoints import CALLS
from tests.official.conversations import Turn, admit, conversation, record
from tests.replay import CAPTURES, PREFIXES, read_capture
from tests.rigs.servers import started

UPDATES = "POST /v2/updates"
#: How many updates the sandboxes have, and how many of them are a history to be read.
UPDATED, SHORT = 200, 60
#: Longer answers would take most of the time.
LONGEST = 200_000
ANY = lf.errors.LedgerframesError

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


def gather() -> Corpus:
    """Ask sandboxes for everything, and read the captures where there are any."""
    answers: dict[str, list[bytes]] = defaultdict(list)
    histories, parties = [], ["nobody::12"]
    for options in ({}, {"hostile": True}, {"release": "0.9"}, {"release": "0.5"}):
        # Routes of older releases are asked on purpose; what one release does not have, another has.
        with started(updates=UPDATED, **options) as sandbox, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for turn in hostile_conversation(sandbox) if "hostile" in options else conversation(sandbox, refused=ANY):
                if 200 <= turn.status < 300 and len(turn.answer) < LONGEST:
                    answers[named(turn.method, turn.path)].append(turn.answer)
            parties += [one.primary_party for one in sandbox.world.accounts.values() if one.primary_party][:5]
            if "hostile" not in options:
                histories.append([json.dumps(item).encode() for item in islice(sandbox.world.items(), SHORT)])
    histories += read_captures(answers)
    histories.append([item for body in answers[UPDATES][-3:] for item in items_of(body)])
    return Corpus(dict(answers), [sorted_once(items) for items in histories if items], parties)


def hostile_conversation(sandbox: Any) -> list[Turn]:
    """What goes over the wire in the loads that a hostile ledger answers."""
    admit(sandbox)
    calls = (
        *(lf.load_licenses, lf.load_instruments, lf.load_name_entries, lf.load_name_rules, lf.load_transfer_offers),
        lambda net: lf.load_updates(net, page_size=8),
        lf.load_users,
    )
    return record(sandbox, calls, refused=ANY)


def read_captures(answers: dict[str, list[bytes]]) -> list[list[bytes]]:
    """Add what was captured of real servers; gives the histories among them."""
    histories = []
    for path in sorted(CAPTURES.glob("*.json")) if CAPTURES.is_dir() else ():
        capture = read_capture(path.stem)
        if capture.status == 200:
            prefix = max((one for one in PREFIXES.values() if capture.path.startswith(one)), key=len)
            name = named(capture.method, capture.path.removeprefix(prefix))
            answers[name].append(capture.reply.body)
            if name == UPDATES:
                histories.append(items_of(capture.reply.body))
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
