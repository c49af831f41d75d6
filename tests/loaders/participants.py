"""Participants on loopback ports whose pages can be told to go wrong; the tests of ledger pages call it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from tests.clocks import SkippingClock
from tests.transport.hostile_server import Heard, HostileServer, Reply, answer, text

TEMPLATE = "ab" * 32 + ":Some:Template"


@dataclass
class Participant:
    """A participant that numbers updates in its own way.

    Attributes:
        name: makes its tokens and its events differ from another participant's.
        offsets: the offsets of its updates.
        page: how many updates or contracts a page has.
        dies_at: the number of the page request, from 1, from which every answer is 503; 0 never.
        without: paths that it does not serve.
        spoil: changes an answer before it is sent, by the number of the page request.
        pruned: the offset up to which it has pruned its updates …
        prunes_at: … from this page request on, from 1.
        names_pruned: whether its error names that offset.
        asked: the bodies of page requests.
    """

    name: str = "one"
    offsets: list[int] = field(default_factory=lambda: list(range(1, 11)))
    page: int = 3
    dies_at: int = 0
    without: tuple[str, ...] = ()
    spoil: Any = None
    pruned: int = 0
    prunes_at: int = 1
    names_pruned: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return max(self.offsets, default=0)

    def answer(self, heard: Heard) -> Reply:
        path = heard.path
        if path in self.without:
            return text("The requested resource could not be found.", 404)
        if path == "/v2/state/ledger-end":
            dead = self.dies_at and len(self.asked) >= self.dies_at
            return text("gone", 503) if dead else answer({"offset": self.end})
        body = heard.json
        self.asked.append(body)
        if self.dies_at and len(self.asked) >= self.dies_at:
            return text("gone", 503)
        if not self.knows(body.get("pageToken")):
            cause = "pageToken belongs to another participant"
            return answer({"code": "INVALID_ARGUMENT", "cause": cause, "context": {}, "errorCategory": 8}, 400)
        if self.lacks(body):
            context = {"earliest_offset": str(self.pruned)} if self.names_pruned else {}
            cause = f"the request precedes pruned offset {self.pruned}"
            body = {"code": "PARTICIPANT_PRUNED_DATA_ACCESSED", "cause": cause, "context": context, "errorCategory": 9}
            return answer(body, 400)
        made = self.updates(body) if path.endswith("get-updates-page") else self.contracts(body)
        if self.spoil is not None:
            made = self.spoil(len(self.asked), made)
        return answer(made)

    def knows(self, token: str | None) -> bool:
        return not token or token.startswith(f"{self.name}:")

    def low(self, body: dict[str, Any]) -> int:
        token = body.get("pageToken")
        return int(token.partition(":")[2]) if token else body.get("beginOffsetExclusive", 0)

    def lacks(self, body: dict[str, Any]) -> bool:
        # A history from 0 begins where it is whole; any other offset before that is refused.
        place = body["activeAtOffset"] if "activeAtOffset" in body else self.low(body)
        return len(self.asked) >= self.prunes_at and 0 < place < self.pruned

    def updates(self, body: dict[str, Any]) -> dict[str, Any]:
        low, end = self.low(body), body["endOffsetInclusive"]
        low = max(low, self.pruned) if len(self.asked) >= self.prunes_at else low
        left = [place for place in self.offsets if low < place <= end]
        high = left[self.page - 1] if len(left) > self.page else end
        shown = [{"update": {"Transaction": {"value": self.transaction(place)}}} for place in left[: self.page]]
        answer = {"updates": shown, "lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high}
        return answer | ({"nextPageToken": f"{self.name}:{high}"} if high < end else {})

    def transaction(self, place: int) -> dict[str, Any]:
        return {
            "updateId": f"1220{self.name}{place}", "offset": place, "synchronizerId": "s::1220",
            "recordTime": "2026-01-01T00:00:00Z", "effectiveAt": "2026-01-01T00:00:00Z",
            "events": [{"CreatedEvent": self.creation(place)}],
        }  # fmt: skip

    def creation(self, place: int) -> dict[str, Any]:
        return {
            "offset": place, "nodeId": 0, "contractId": f"00{self.name}{place}", "templateId": TEMPLATE,
            "packageName": "some", "createArgument": {"of": self.name}, "createdAt": "2026-01-01T00:00:00Z",
            "signatories": ["a::1220"], "observers": [], "witnessParties": ["a::1220"],
        }  # fmt: skip

    def contracts(self, body: dict[str, Any]) -> dict[str, Any]:
        at = body["activeAtOffset"]
        first = int(body["pageToken"].partition(":")[2]) if body.get("pageToken") else 0
        left = [place for place in self.offsets if place <= at]
        shown = [self.entry(place) for place in left[first : first + self.page]]
        more = {"nextPageToken": f"{self.name}:{first + self.page}"} if len(left) > first + self.page else {}
        return {"activeContracts": shown, "activeAtOffset": at, **more}

    def entry(self, place: int) -> dict[str, Any]:
        active = {"createdEvent": self.creation(place), "synchronizerId": "s::1220", "reassignmentCounter": 0}
        return {"workflowId": "", "contractEntry": {"JsActiveContract": active}}


@contextmanager
def connected(*participants: Participant, attempts: int = 2):
    """A network whose ledger interface has these participants, the first one preferred."""
    with ExitStack() as stack:
        urls = tuple(stack.enter_context(HostileServer(one.answer)).url for one in participants)
        settings = Settings(ledger_url=urls, ledger_token="t0ken-of-the-test", attempts=attempts)
        yield stack.enter_context(lf.types.Network(settings, clock=SkippingClock()))
