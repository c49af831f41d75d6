"""Faults: what each kind looks like to a client, and that they come as often as was said."""

from __future__ import annotations

import email.utils
import http.client
import json
import time
from collections import Counter

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ledgerframes.sandbox.faults import FaultDraws, Faults
from ledgerframes.sandbox.serving import Served, serve

RIGHT = {"transactions": [{"update_id": f"1220{n:04}"} for n in range(50)]}


@pytest.fixture(scope="module")
def server():
    async def updates(request: Request) -> JSONResponse:
        handled.append(request.url.path)
        return JSONResponse(RIGHT)

    handled: list[str] = []
    paths = ("/updates", "/other")
    with serve(Starlette(routes=[Route(path, updates, methods=["GET", "POST"]) for path in paths])) as served:
        yield served, handled


@pytest.fixture
def served(server):
    yield server[0]
    server[0].faults = None


@pytest.fixture
def handled(server):
    """The paths of the requests of this test that the app has seen."""
    server[1].clear()
    return server[1]


def ask(served: Served, path: str = "/updates", body: bytes = b"{}") -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=5)
    try:
        connection.request("POST", path, body=body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("kind", "status", "content_type", "body"),
    [
        ("403", 403, "text/plain", "RBAC: access denied"),
        ("429", 429, "text/plain", "too many requests"),
        ("500", 500, "application/json", "error"),
        ("502", 502, "text/html", "Bad Gateway"),
        ("503", 503, "text/plain", "upstream"),
        ("503-not-replicated", 503, "application/json", "not yet replicated all data"),
        ("504", 504, "text/plain", ""),
        ("html", 200, "text/html", "<html>"),
        ("empty", 200, "application/json", ""),
    ],
)
def test_answers_in_the_place_of_the_app(served, handled, kind, status, content_type, body):
    served.faults = Faults(sequence=(kind,))
    got, headers, sent = ask(served)
    assert (got, headers.get_content_type()) == (status, content_type)
    assert body in sent.decode()
    assert bool(sent) is bool(body)
    assert handled == []


def test_retry_after_comes_missing_in_seconds_and_as_a_date(served):
    served.faults = Faults(sequence=("429", "429-seconds", "429-date"))
    missing, seconds, date = (ask(served)[1]["retry-after"] for _ in range(3))
    assert missing is None
    assert seconds == "1"
    assert -2 < email.utils.parsedate_to_datetime(date).timestamp() - time.time() <= 1.5


@pytest.mark.parametrize(("kind", "times"), [("reset", 0), ("reset-after", 1), ("reset-in-body", 1)])
def test_a_reset_is_a_reset_and_says_whether_the_app_ran(served, handled, kind, times):
    served.faults = Faults(sequence=(kind,))
    with pytest.raises(ConnectionResetError) as reset:
        ask(served)
    assert not isinstance(reset.value, http.client.RemoteDisconnected)
    assert len(handled) == times
    assert ask(served)[0] == 200


def test_a_truncated_body_is_well_formed_http_around_broken_json(served):
    served.faults = Faults({"truncated": 1.0})
    lengths = set()
    for _ in range(8):
        status, headers, body = ask(served)
        assert status == 200
        assert int(headers["content-length"]) == len(body)
        with pytest.raises(json.JSONDecodeError):
            json.loads(body)
        lengths.add(len(body))
    assert len(lengths) > 4


def test_a_short_body_ends_before_its_length_and_a_wrong_content_type_carries_the_right_one(served):
    served.faults = Faults(sequence=("short-body", "content-type"))
    with pytest.raises(http.client.IncompleteRead):
        ask(served)
    status, headers, body = ask(served)
    assert (status, headers.get_content_type(), json.loads(body)) == (200, "text/plain", RIGHT)


def test_a_sequence_hits_the_requests_of_its_paths_in_turn_and_then_stops(served):
    served.faults = Faults(sequence=("ok", "429", "503"), paths="/updates")
    paths = ("/updates", "/other", "/updates", "/other", "/updates", "/updates")
    assert [ask(served, path)[0] for path in paths] == [200, 200, 429, 200, 503, 200]


def test_the_same_seed_draws_the_same_faults_at_their_rates():
    faults = Faults({"429": 0.2, "reset": 0.05}, seed=1)
    first, second, other = (FaultDraws(Faults(faults.rates, seed=seed)) for seed in (1, 1, 2))
    drawn = [first.draw("/").kind for _ in range(20_000)]
    assert drawn[:200] == [second.draw("/").kind for _ in range(200)]
    assert drawn[:200] != [other.draw("/").kind for _ in range(200)]
    counted = Counter(drawn)
    assert counted["429"] == pytest.approx(4000, rel=0.1)
    assert counted["reset"] == pytest.approx(1000, rel=0.15)


def test_the_short_form_is_read():
    faults = Faults.parse("429:0.1, reset:0.05,latency:80ms", seed=3)
    assert faults == Faults({"429": 0.1, "reset": 0.05}, latency=0.08, seed=3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda: Faults({"418": 0.1}), "unknown fault '418'", id="unknown kind"),
        pytest.param(lambda: Faults({"429": 0.7, "500": 0.7}), "at most 1", id="more than certain"),
        pytest.param(lambda: Faults({"429": -0.1}), "at most 1", id="negative"),
        pytest.param(lambda: Faults.parse("latency:0.5"), "latency:80ms", id="no unit"),
        pytest.param(lambda: Faults.parse("429"), "KIND:PROBABILITY", id="no value"),
    ],
)
def test_what_cannot_be_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
