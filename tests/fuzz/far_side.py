"""A far side that answers out of a corpus and breaks some of what it says; `tests.fuzz.answers` calls it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

import httpx

from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import parse_timestamp
from ledgerframes.transport.no_answer import UnusableAnswer
from ledgerframes.transport.request import Failure
from tests.fuzz.corpus import UPDATES, Corpus, endpoint_of
from tests.fuzz.mutations import VALUES, mutate

STATUSES = (200, 201, 202, 204, 206, 302, 304, 400, 401, 403, 404, 405, 409, 413, 429, 500, 501, 502, 503, 504, 599)
HEADERS = ("content-type", "retry-after", "date", "location", "content-encoding", "x-request-id")
ERROR = json.dumps(
    {
        "code": "NO", "cause": "it is so", "errorCategory": 1, "correlationId": "c", "traceId": "t", "grpcCodeValue": 5,
        "context": {"a": "b"}, "resources": [["x", "y"]], "retryInfo": "1 second", "definiteAnswer": None,
    }
).encode()  # fmt: skip
TEXTS = (
    *(ERROR, b'{"error":"Exceeded limit maximum (2000 > 3)."}', b"<html><title>x</title><body>no</body></html>", b""),
    *(b'{"error":"Exceeded limit maximum (2000 > ' + b"9" * 4000 + b')."}', b"plain words", b"\x1b[31mred\r\nnext"),
)


class EndlessError(BaseException):
    """The client asked and asked; not to be caught by it."""


@dataclass
class FarSide(httpx.BaseTransport):
    """What carries requests to servers, in this process.

    Attributes:
        corpus: what it would answer.
        rng: what is broken, and how.
        rate: the share of broken answers.
        most: requests that any call may take.
        sent: the last broken answer, whole.
        calm: whether every answer so far was good.
    """

    corpus: Corpus
    rng: random.Random
    rate: float
    most: int = 3_000
    sent: bytes = b""
    calm: bool = True
    asked: int = 0
    places: list[tuple[Cursor, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        history = self.rng.choice(self.corpus.histories)
        places = [(place_of(item), item) for item in history]
        self.places = [one for one in sorted(places, key=lambda one: one[0]) if len(one[1]) < 50_000]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One answer: a good one, a broken one, or none."""
        self.asked += 1
        if self.asked > self.most:
            raise EndlessError(f"{self.asked} requests, the last one {request.method} {request.url}")
        body = self.good(request)
        headers = {"content-type": "application/json"}
        if self.rng.random() >= self.rate:
            return httpx.Response(200, headers=headers, stream=httpx.ByteStream(body))
        self.calm = False
        self.sent = b""
        if self.rng.random() < 0.05:
            lasting = Failure(
                "the line went dead", transient=self.rng.random() < 0.5, elsewhere=self.rng.random() < 0.5
            )
            raise UnusableAnswer(lasting)
        status = 200
        if self.rng.random() < 0.2:
            status, body = self.rng.choice(STATUSES), self.rng.choice(TEXTS)
            headers[self.rng.choice(HEADERS)] = self.rng.choice(VALUES).strip('"')[:4000]
        others = self.corpus.answers.get(endpoint_of(request), [b"{}"])
        self.sent = mutate(body, self.rng, others) if self.rng.random() < 0.9 else self.stale(request, body)
        raw = [(name.encode(), value.encode(errors="surrogateescape")) for name, value in headers.items()]
        return httpx.Response(status, headers=raw, stream=httpx.ByteStream(self.sent))

    def stale(self, request: httpx.Request, body: bytes) -> bytes:
        """A good page of another request."""
        pages = self.corpus.answers.get(endpoint_of(request), [body])
        return self.rng.choice([page for page in pages if len(page) < 200_000] or [body])

    def good(self, request: httpx.Request) -> bytes:
        """The answer of an honest server."""
        endpoint = endpoint_of(request)
        if endpoint == UPDATES:
            return self.page(json.loads(request.content or b"{}"))
        bodies = self.corpus.answers.get(endpoint) or [b"{}"]
        return bodies[self.asked % len(bodies)]

    def page(self, asked: dict[str, object]) -> bytes:
        """The items strictly after a place."""
        after = asked.get("after")
        items = self.places
        if isinstance(after, dict):
            place = Cursor(after["after_migration_id"], parse_timestamp(after["after_record_time"])[0])
            items = [one for one in items if one[0] > place]
        return page_of([item for _, item in items[: int(str(asked["page_size"]))]])


def page_of(items: list[bytes]) -> bytes:
    """A page of updates."""
    return b'{"transactions":[' + b",".join(items) + b"]}"


def place_of(item: bytes) -> Cursor:
    """Where an item stands in the history."""
    members = json.loads(item)
    return Cursor(members.get("event", members)["migration_id"], parse_timestamp(members["record_time"])[0])
