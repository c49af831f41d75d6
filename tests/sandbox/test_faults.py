"""Faults: what each kind looks like to a client, and that they come as often as was said."""

import email.utils
import json
import time
from collections import Counter
from http.client import IncompleteRead

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ledgerframes.sandbox.faults import KINDS, FaultDraws, Faults
from ledgerframes.sandbox.serving import serve
from tests.sandbox.asking import ask

RIGHT = {"transactions": [{"update_id": f"1220{n:04}"} for n in range(50)]}
WHOLE = json.dumps(RIGHT, separators=(",", ":")).encode()


@pytest.fixture
def server():
    """A server, and the paths of the requests that its app has seen."""

    async def updates(request: Request) -> JSONResponse:
        handled.append(request.url.path)
        return JSONResponse(RIGHT)

    handled: list[str] = []
    with serve(Starlette(routes=[Route("/{path:path}", updates, methods=["POST"])])) as running:
        yield running, handled


@pytest.fixture
def served(server):
    return server[0]


#: Of each kind what a client gets, an answer or an error, and whether the app saw the request.
SEEN = {
    "403": ((403, "text/plain", "RBAC: access denied"), False),
    "429": ((429, "text/plain", "too many requests"), False),
    "429-seconds": ((429, "text/plain", "too many requests"), False),
    "429-date": ((429, "text/plain", "too many requests"), False),
    "500": ((500, "application/json", "error"), False),
    "502": ((502, "text/html", "Bad Gateway"), False),
    "503": ((503, "text/plain", "upstream"), False),
    "503-not-replicated": ((503, "application/json", "not yet replicated all data"), False),
    "504": ((504, "text/plain", ""), False),
    "html": ((200, "text/html", "<html>"), False),
    "empty": ((200, "application/json", ""), False),
    "truncated": ((200, "application/json", "{"), True),
    "content-type": ((200, "text/plain", WHOLE.decode()), True),
    "short-body": (IncompleteRead, True),
    "reset": (ConnectionResetError, False),
    "reset-after": (ConnectionResetError, True),
    "reset-in-body": (ConnectionResetError, True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_once_and_then_the_app_again(server, kind):
    served, handled = server
    served.faults = Faults(sequence=(kind,))
    seen, ran = SEEN[kind]
    if isinstance(seen, type):
        with pytest.raises(seen) as caught:
            ask(served.url, {})
        assert type(caught.value) is seen
    else:
        answer = ask(served.url, {})
        assert (answer.status, answer.headers.get_content_type()) == seen[:2]
        assert seen[2] in answer.body.decode()
        assert bool(answer.body) == bool(seen[2])
    assert len(handled) == ran
    again = ask(served.url, {})
    assert (again.status, again.body) == (200, WHOLE)


def test_retry_after_comes_missing_in_seconds_and_as_a_date(served):
    served.faults = Faults(sequence=("429", "429-seconds", "429-date"))
    missing, seconds, date = (ask(served.url, {}).headers["retry-after"] for _ in range(3))
    assert (missing, seconds) == (None, "1")
    assert -2 < email.utils.parsedate_to_datetime(date).timestamp() - time.time() <= 1.5


def test_truncated_bodies_end_anywhere_before_their_end_with_a_length_of_their_own(served):
    served.faults = Faults({"truncated": 1.0})
    answers = [ask(served.url, {}) for _ in range(8)]
    assert all(int(one.headers["content-length"]) == len(one.body) < len(WHOLE) for one in answers)
    assert len({one.body for one in answers}) > 4


def test_a_sequence_hits_the_requests_of_its_paths_in_turn_and_then_stops(served):
    served.faults = Faults(sequence=("ok", "429", "503"), paths="/updates")
    paths = ("/updates", "/other", "/updates", "/other", "/updates", "/updates")
    assert [ask(served.url + path, {}).status for path in paths] == [200, 200, 429, 200, 503, 200]


def test_the_same_seed_draws_the_same_faults_at_their_rates():
    rates = {"429": 0.2, "reset": 0.05}
    first, second, other = (FaultDraws(Faults(rates, seed=seed)) for seed in (1, 1, 2))
    drawn = [first.draw("/").kind for _ in range(20_000)]
    assert drawn[:200] == [second.draw("/").kind for _ in range(200)] != [other.draw("/").kind for _ in range(200)]
    counted = Counter(drawn)
    assert counted["429"] == pytest.approx(4000, rel=0.1)
    assert counted["reset"] == pytest.approx(1000, rel=0.15)


#: By what is wrong with them: the short form of faults, and what is said.
WRONG = {
    "unknown kind": ("418:0.1", "unknown fault '418'"),
    "more than certain": ("429:0.7,500:0.7", "at most 1"),
    "negative": ("429:-0.1", "at most 1"),
    "no unit": ("latency:0.5", "latency:80ms"),
    "no value": ("429", "KIND:PROBABILITY"),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_the_short_form_is_read_and_what_cannot_be_is_refused(text, says):
    faults = Faults.parse("429:0.1, reset:0.05,latency:80ms", seed=3)
    assert faults == Faults({"429": 0.1, "reset": 0.05}, latency=0.08, seed=3)
    with pytest.raises(ValueError, match=says):
        Faults.parse(text)
