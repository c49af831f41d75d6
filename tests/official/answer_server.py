"""A server on a loopback port that answers what the official files allow, in one style; the tests beside start it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from random import Random
from typing import Any
from urllib.parse import unquote

import ledgerframes as lf
from ledgerframes.config.settings import INTERFACES
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import AMOUNT, INT64, TEXT, TIME
from tests.asking import asking_one
from tests.official.interface_files import Operation, operation
from tests.official.made_up_values import MOST, NULLS, Values
from tests.transport.hostile_server import Heard, HostileServer, Reply, answer, text

UNKNOWN_UPDATE = {"code": "UPDATE_NOT_FOUND", "cause": "Update not found", "context": {}, "errorCategory": 11}
# What the files call optional, but what the answer is there for; without it there would be a 404.
WHOLE = ("update", "transactionTree")
#: A member of a payload, which the files call an object, by the kind of the column that holds it.
MEMBERS = {TEXT: "some text", TIME: "2026-01-01T00:00:00.1234Z", INT64: "81324", AMOUNT: "0E-10"}
#: Routes that answer with the update asked for.
BY_ID = {"/v1/updates/{update_id}", "/v2/updates/{update_id}"}


@dataclass
class AnswerServer:
    """What is answered.

    Attributes:
        kind: whether an update is a transaction or a reassignment where only one is shown.
        history: the items of the update history, in order.
        without: paths that this server does not have.
        sent: every answer by "METHOD /path", as the files write the path.
    """

    style: str
    seed: int
    kind: str = "Transaction"
    without: tuple[str, ...] = ()
    history: list[dict[str, Any]] = field(default_factory=list)
    sent: dict[str, list[Any]] = field(default_factory=dict)
    _made: int = 0
    _updates: int = 0

    def __post_init__(self) -> None:
        page = operation("scan", "POST", "/v2/updates")
        (schema,) = page.answers(200).values()
        for _ in range(3):
            self.history += [self.update(item) for item in self.values(page).value(schema)["transactions"]]

    def answer(self, heard: Heard) -> Reply:
        """One answer with status 200."""
        routes = (operation(interface, heard.method, heard.path) for interface in INTERFACES)
        found = min(filter(None, routes), key=lambda one: one.path.count("{"), default=None)
        if found is None or found.path in self.without:
            return text("The requested resource could not be found.", 404)
        asked = heard.json if heard.body.startswith(b"{") else {}
        wanted = asked.get("updateFormat", {"includeReassignments": {}})
        if self.kind == "Reassignment" and "includeReassignments" not in wanted:
            return answer(UNKNOWN_UPDATE, 404)
        value = self.make(found, heard.query, asked) if found.answers(200) else None
        if found.path in BY_ID:  # its other ids begin with its own
            value = json.loads(json.dumps(value).replace(value["update_id"], unquote(heard.path.rpartition("/")[2])))
        self.sent.setdefault(f"{found.method} {found.path}", []).append(value)
        return answer(value) if found.answers(200) else Reply(body=b"")

    def make(self, found: Operation, query: dict[str, str], asked: dict[str, Any]) -> Any:
        """The body of an answer: of the schema, and in keeping with the request where the contract says so."""
        if found.path == "/v2/updates" and found.method == "POST" and "page_size" in asked:
            return {**self.page(asked), **({"unknown": 1} if self.style == MOST else {})}
        values = self.values(found)
        value = values.value(found.answers(200)["application/json"])
        if found.path.startswith(("/v1/updates/", "/v2/updates/")) and found.method == "GET":
            value = self.update(value)
        for name, one in found.document.resolve(found.answers(200)["application/json"]).get("properties", {}).items():
            if name in WHOLE and not value.get(name):
                value[name] = values.value(one)
        self.end_pages(value, query, values.rng)
        if "owner_party_ids" in asked and "summaries" in value:
            (first, *_) = value["summaries"]
            value["summaries"] = [{**first, "party_id": party} for party in asked["owner_party_ids"]]
        for contract in contracts(value):
            contract["payload"] = self.payload(found.path)
            contract["contract_id"] = f"00{values.rng.getrandbits(64):016x}"
            if "validator" in contract["payload"]:
                contract["payload"]["validator"] = f"v-{values.rng.getrandbits(32)}::1220"
        return value

    def values(self, found: Operation) -> Values:
        """The next values of a file; each differs from the last."""
        self._made += 1
        choose = {"Transaction": {"Transaction", "events_by_id"}, "Reassignment": {"Reassignment", "event"}}[self.kind]
        return Values(found.document, self.style, Random(self.seed * 1_000 + self._made), frozenset(choose))

    def page(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The items strictly after a place."""
        after = asked.get("after") or {}
        place = (after.get("after_migration_id", -1), after.get("after_record_time", ""))
        later = [item for item in self.history if place_of(item) > place]
        return {"transactions": later[: asked["page_size"]]}

    def update(self, item: dict[str, Any]) -> dict[str, Any]:
        """An update of scan with an id and time of its own, whose events refer to each other."""
        self._updates += 1
        item["update_id"] = f"1220{self._updates:064x}"
        item["record_time"] = f"2026-01-30T00:00:00.{self._updates:06d}Z"
        events = list((item.get("events_by_id") or {}).values())
        if "events_by_id" in item:
            item["migration_id"] = 1
            keys = [f"{item['update_id']}:{place}" for place in range(len(events))]
            item["events_by_id"] = dict(zip(keys, events, strict=True))
            item["root_event_ids"] = keys
            for key, event in zip(keys, events, strict=True):
                event["event_id"] = key
                if "child_event_ids" in event:
                    event["child_event_ids"] = []
        else:
            item["event"]["migration_id"] = 1
        return item

    def end_pages(self, value: Any, query: dict[str, str], rng: Random) -> None:
        """With everything, a first page says that another one follows, which is the last."""
        first = not query.get("pageToken") and "after" not in query
        for name, token in (("nextPageToken", "more"), ("next_page_token", rng.randrange(10**6))):
            if isinstance(value, dict) and name in value:
                if self.style == MOST and first:
                    value[name] = "more" if isinstance(value[name], str) else token
                elif self.style == MOST:
                    value[name] = "" if name == "nextPageToken" else None

    def payload(self, path: str) -> dict[str, Any]:
        """The payload of the contracts that a path lists, as the path's table declares it."""
        made: dict[str, Any] = {"not known": [1, None]} if self.style == MOST else {}
        tables = [one for one in CATALOGUE.values() if any(name.endswith(f" {path}") for name in one.endpoints)]
        for column in (column for table in tables for column in table.columns if "/payload/" in column.source):
            *steps, last = column.source.partition("/payload/")[2].split("/")
            if self.style == NULLS and column.nullable:
                made[[*steps, last][0]] = None
            elif self.style == MOST or not column.nullable:
                reduce(lambda place, step: place.setdefault(step, {}), steps, made)[last] = MEMBERS[column.kind]
        return made


def place_of(item: dict[str, Any]) -> tuple[int, str]:
    return item.get("event", item)["migration_id"], item["record_time"]


def contracts(value: Any) -> Iterator[dict[str, Any]]:
    """Every contract in an answer."""
    if isinstance(value, dict):
        if "created_event_blob" in value and "payload" in value:
            yield value
        for one in value.values():
            yield from contracts(one)
    elif isinstance(value, list):
        for one in value:
            yield from contracts(one)


@contextmanager
def answering(style: str, *, seed: int = 1, **options: Any) -> Iterator[tuple[lf.types.Network, AnswerServer]]:
    """A network whose four interfaces answer in one style."""
    server = AnswerServer(style, seed, **options)
    with HostileServer(server.answer) as served, asking_one(served.url, attempts=1) as net:
        yield net, server
